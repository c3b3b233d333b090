package kerasbert.core

/**
 * Keeps the largest scores of many; of equal ones those with the smallest numbers, so that the result does not depend on the order.
 *
 * @param count the most scores to keep.
 */
internal class TopScores(private val count: Int) {
    // A heap whose first entry is the one to drop next.
    private var numbers = IntArray(minOf(count, 64))
    private var scores = DoubleArray(numbers.size)
    private var size = 0

    /** Takes a score into account, which must not be NaN. */
    fun offer(number: Int, score: Double) {
        if (count < 1) return
        if (size < count) {
            grow()
            put(size, number, score)
            rise(size++)
        } else if (isBetter(number, score, 0)) {
            put(0, number, score)
            sink()
        }
    }

    /** The numbers of the scores that were kept, best first. */
    fun best(): List<Int> = (0 until size).sortedWith { one, other -> if (isBetter(numbers[one], scores[one], other)) -1 else 1 }.map { numbers[it] }

    private fun grow() {
        if (size < numbers.size) return
        val larger = Math.min(2L * size, count.toLong()).toInt()
        numbers = numbers.copyOf(larger)
        scores = scores.copyOf(larger)
    }

    private fun put(place: Int, number: Int, score: Double) {
        numbers[place] = number
        scores[place] = score
    }

    private fun isBetter(number: Int, score: Double, place: Int): Boolean =
        score > scores[place] || (score == scores[place] && number < numbers[place])

    private fun rise(from: Int) {
        var place = from
        while (place > 0) {
            val parent = (place - 1) / 2
            if (isBetter(numbers[place], scores[place], parent)) return
            swap(place, parent)
            place = parent
        }
    }

    private fun sink() {
        var place = 0
        while (true) {
            var worst = place
            for (child in 2 * place + 1..minOf(2 * place + 2, size - 1)) {
                if (isBetter(numbers[worst], scores[worst], child)) worst = child
            }
            if (worst == place) return
            swap(place, worst)
            place = worst
        }
    }

    private fun swap(one: Int, other: Int) {
        val (number, score) = numbers[one] to scores[one]
        put(one, numbers[other], scores[other])
        put(other, number, score)
    }
}
