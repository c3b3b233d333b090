package kerasbert.core.search

private const val COSINE_SCALE = 20.0 // the factor of cosines in the softmax: 0.05 more is e times the probability
private const val STRENGTH = 10.0 // of logistic regression: the weight of the examples against the size of the layer
private const val FOLDS = 5
private const val FEWER_FOLDS = 3
private const val MANY_ROWS = 1000
private const val SMALLEST_SHARE = 1e-30
private const val SMALLEST_NORM = 1e-6 // of a mean of vectors of norm 1; what is below is rounding
private const val PRECISION = 1e-3 // the largest number of the gradient at the end of the search
private const val COARSE = 1e-1 // in a fold: decisions do not depend on more
private val SCALES = List(57) { Math.pow(2.0, it / 8.0 - 3) } // of logits, from an eighth to 16

/**
 * A layer from sentence vectors of norm 1 to the logits of classes, fitted as `kerasbert.few_shot` does in Python: the nearest centre or
 * logistic regression, by cross-validation, with a scale that makes the probabilities as right as they say.
 *
 * @property table a row for each class: its kernel, and its bias last.
 * @property width the numbers in a vector.
 * @property method `centre` or `logistic`.
 * @property accuracy of each method, by cross-validation; empty where no class has two examples.
 */
class TaughtLayer private constructor(
    val table: DoubleArray,
    val width: Int,
    val method: String,
    val accuracy: Map<String, Double>,
) {
    /** The probability of each class for a vector of norm 1. */
    fun probabilities(vector: FloatArray): DoubleArray = sharesOf(table, width, vector)

    companion object {
        // In Python's order: of equally good ones the last is taken, and without two examples of a class the first.
        private val METHODS: Map<String, (Examples, Double) -> DoubleArray> =
            linkedMapOf("centre" to { examples, _ -> centres(examples) }, "logistic" to ::logistic)

        /**
         * Chooses a method and fits its layer.
         *
         * @param vectors the vectors of the examples, of norm 1.
         * @param classes the class of each example, from 0 to below [count]; each class has one.
         * @param count the number of classes.
         */
        fun fit(vectors: List<FloatArray>, classes: List<Int>, count: Int): TaughtLayer {
            val examples = Examples(vectors, classes, vectors[0].size, count)
            val folds = foldsOf(classes, count)
            val held = folds.indices.filter { folds[it] >= 0 }
            if (held.isEmpty()) return TaughtLayer(centres(examples), examples.width, METHODS.keys.first(), emptyMap())
            val shares = METHODS.mapValues { (_, fit) -> heldOut(examples, folds, fit) }
            val accuracy = shares.mapValues { (_, of) -> held.count { argMax(of.getValue(it)) == classes[it] } / held.size.toDouble() }
            val method = METHODS.keys.last { accuracy.getValue(it) == accuracy.values.max() }
            val factor = scaleOf(held.map { shares.getValue(method).getValue(it) }, held.map { classes[it] }).toFloat()
            val table = METHODS.getValue(method)(examples, PRECISION)
            return TaughtLayer(DoubleArray(table.size) { (table[it].toFloat() * factor).toDouble() }, examples.width, method, accuracy)
        }
    }
}

private class Examples(val vectors: List<FloatArray>, val classes: List<Int>, val width: Int, val count: Int) {
    /** Those that a fold does not hold out. */
    fun without(folds: List<Int>, fold: Int): Examples {
        val kept = folds.indices.filter { folds[it] != fold }
        return Examples(kept.map { vectors[it] }, kept.map { classes[it] }, width, count)
    }
}

/** The fold that holds out each example; -1 for a class of one example, which is always taught. */
private fun foldsOf(classes: List<Int>, count: Int): List<Int> {
    val folds = if (classes.size <= MANY_ROWS) FOLDS else FEWER_FOLDS
    val sizes = IntArray(count)
    for (each in classes) sizes[each]++
    val dealt = IntArray(count)
    return classes.map { if (sizes[it] > 1) dealt[it]++ % folds else -1 }
}

/** The probabilities of each example by a layer that did not see it, in float32 as in Python. */
private fun heldOut(examples: Examples, folds: List<Int>, fit: (Examples, Double) -> DoubleArray): Map<Int, DoubleArray> {
    val shares = HashMap<Int, DoubleArray>()
    for (fold in folds.filter { it >= 0 }.distinct()) {
        val table = inFloat32(fit(examples.without(folds, fold), COARSE))
        for (row in folds.indices) {
            if (folds[row] == fold) shares[row] = inFloat32(sharesOf(table, examples.width, examples.vectors[row]))
        }
    }
    return shares
}

private fun inFloat32(values: DoubleArray) = DoubleArray(values.size) { values[it].toFloat().toDouble() }

/** The factor of the logits with the smallest cross-entropy; a few rows that are all right count as a little less than certain. */
private fun scaleOf(shares: List<DoubleArray>, classes: List<Int>): Double {
    val count = shares[0].size
    val doubt = 1.0 / (shares.size + 2)
    val logits = shares.map { row -> DoubleArray(count) { Math.log(row[it].coerceAtLeast(SMALLEST_SHARE)) } }
    return SCALES.minBy { factor ->
        logits.indices.sumOf { row ->
            val scaled = softmax(DoubleArray(count) { factor * logits[row][it] })
            scaled.indices.sumOf {
                val target = if (it == classes[row]) 1 - doubt else doubt / (count - 1)
                -target * Math.log(scaled[it] + SMALLEST_SHARE)
            }
        }
    }
}

/** The layer whose logits are the cosines with the mean of each class, times [COSINE_SCALE]. */
private fun centres(examples: Examples): DoubleArray {
    val width = examples.width
    val table = DoubleArray(examples.count * (width + 1))
    val sizes = IntArray(examples.count)
    for ((row, vector) in examples.vectors.withIndex()) {
        val number = examples.classes[row]
        sizes[number]++
        for (place in 0 until width) table[number * (width + 1) + place] += vector[place].toDouble()
    }
    for (number in sizes.indices) {
        val places = number * (width + 1) until number * (width + 1) + width
        val norm = Math.sqrt(places.sumOf { table[it] * table[it] })
        val factor = if (norm > SMALLEST_NORM * sizes[number]) COSINE_SCALE / norm else 0.0 // examples that cancel each other have no direction
        for (place in places) table[place] *= factor
    }
    return table
}

/** Multinomial logistic regression: the cross-entropy of all examples, times [STRENGTH], plus half of the squared kernel. */
private fun logistic(examples: Examples, precision: Double): DoubleArray {
    val (width, count) = Pair(examples.width, examples.count)
    val size = examples.vectors.size
    // A constant that all vectors share only moves the bias, which is not held small: the optimum is found faster without it.
    val mean = DoubleArray(width) { place -> examples.vectors.sumOf { it[place].toDouble() } / size }
    val centred = examples.vectors.map { vector -> DoubleArray(width) { vector[it] - mean[it] } }
    val table = Lbfgs(precision).minimum(DoubleArray(count * (width + 1))) { lossAndGradient(it, centred, examples) }
    val biases = DoubleArray(count) { number ->
        val start = number * (width + 1)
        table[start + width] - mean.indices.sumOf { mean[it] * table[start + it] }
    }
    val shared = biases.sum() / count
    for (number in biases.indices) table[number * (width + 1) + width] = biases[number] - shared
    return table
}

private fun lossAndGradient(table: DoubleArray, centred: List<DoubleArray>, examples: Examples): Pair<Double, DoubleArray> {
    val (width, count) = Pair(examples.width, examples.count)
    val gradient = DoubleArray(table.size)
    var loss = 0.0
    for (number in 0 until count) {
        for (place in number * (width + 1) until number * (width + 1) + width) {
            gradient[place] = table[place]
            loss += table[place] * table[place] / 2
        }
    }
    for ((row, vector) in centred.withIndex()) {
        val logits = logitsOf(table, width) { vector[it] }
        val largest = logits.max()
        val total = Math.log(logits.sumOf { Math.exp(it - largest) }) + largest
        loss -= STRENGTH * (logits[examples.classes[row]] - total)
        for (number in 0 until count) {
            val error = STRENGTH * (Math.exp(logits[number] - total) - if (number == examples.classes[row]) 1 else 0)
            val start = number * (width + 1)
            for (place in 0 until width) gradient[start + place] += error * vector[place]
            gradient[start + width] += error
        }
    }
    return Pair(loss, gradient)
}

private fun sharesOf(table: DoubleArray, width: Int, vector: FloatArray) = softmax(logitsOf(table, width) { vector[it].toDouble() })

private inline fun logitsOf(table: DoubleArray, width: Int, value: (Int) -> Double): DoubleArray {
    val logits = DoubleArray(table.size / (width + 1))
    for (number in logits.indices) {
        val start = number * (width + 1)
        var sum = 0.0
        for (place in 0 until width) sum += value(place) * table[start + place]
        logits[number] = sum + table[start + width]
    }
    return logits
}

private fun softmax(logits: DoubleArray): DoubleArray {
    val largest = logits.max()
    val shares = DoubleArray(logits.size) { Math.exp(logits[it] - largest) }
    val total = shares.sum()
    return DoubleArray(shares.size) { shares[it] / total }
}

private fun argMax(values: DoubleArray): Int = values.indices.maxBy { values[it] }
