package kerasbert.core.search

private const val HISTORY = 10
private const val MOST_STEPS = 500
private const val ENOUGH = 1e-4 // of the expected decrease (Armijo)
private const val SHORTEST_STEP = 1e-10

/**
 * Minimizes smooth convex functions by L-BFGS (Nocedal & Wright 2006, chapter 7) with a backtracking line search.
 *
 * @param precision the largest number of the gradient at which the search ends.
 */
internal class Lbfgs(private val precision: Double) {
    private class Step(val change: DoubleArray, val difference: DoubleArray, val inverse: Double)

    /** The point with the smallest value of a function, which returns its value and gradient. */
    fun minimum(start: DoubleArray, function: (DoubleArray) -> Pair<Double, DoubleArray>): DoubleArray {
        var point = start
        var (loss, gradient) = function(start)
        val steps = ArrayDeque<Step>()
        repeat(MOST_STEPS) {
            if (gradient.all { Math.abs(it) <= precision }) return point
            val newton = twoLoops(gradient, steps)
            val direction = DoubleArray(newton.size) { -newton[it] }
            val slope = dot(direction, gradient)
            var size = if (steps.isNotEmpty()) 1.0 else Math.min(1.0, 1 / gradient.sumOf { Math.abs(it) })
            var moved = at(point, direction, size)
            var (newLoss, newGradient) = function(moved)
            while (newLoss > loss + ENOUGH * size * slope && size >= SHORTEST_STEP) {
                size /= 2
                moved = at(point, direction, size)
                val found = function(moved)
                newLoss = found.first
                newGradient = found.second
            }
            val change = DoubleArray(moved.size) { moved[it] - point[it] }
            val difference = DoubleArray(moved.size) { newGradient[it] - gradient[it] }
            val curvature = dot(change, difference)
            if (size < SHORTEST_STEP || !(curvature > 0)) return point // the numbers resolve no more
            if (steps.size == HISTORY) steps.removeFirst()
            steps.addLast(Step(change, difference, 1 / curvature))
            point = moved
            loss = newLoss
            gradient = newGradient
        }
        return point
    }

    private fun at(point: DoubleArray, direction: DoubleArray, size: Double) = DoubleArray(point.size) { point[it] + size * direction[it] }

    /** The gradient times the approximation of the inverse Hessian that the last steps give. */
    private fun twoLoops(gradient: DoubleArray, steps: List<Step>): DoubleArray {
        val result = gradient.copyOf()
        val shares = DoubleArray(steps.size)
        for (number in steps.indices.reversed()) {
            shares[number] = steps[number].inverse * dot(steps[number].change, result)
            add(result, steps[number].difference, -shares[number])
        }
        steps.lastOrNull()?.let { last ->
            val scale = 1 / (last.inverse * dot(last.difference, last.difference))
            for (place in result.indices) result[place] *= scale
        }
        for ((number, step) in steps.withIndex()) add(result, step.change, shares[number] - step.inverse * dot(step.difference, result))
        return result
    }

    private fun add(target: DoubleArray, values: DoubleArray, factor: Double) {
        for (place in target.indices) target[place] += factor * values[place]
    }

    private fun dot(one: DoubleArray, other: DoubleArray): Double {
        var sum = 0.0
        for (place in one.indices) sum += one[place] * other[place]
        return sum
    }
}
