package kerasbert.core.search

import kerasbert.core.KerasBertException
import kerasbert.core.TopScores

private const val LARGEST = 127
internal const val MOST_DIMENSIONS = 1 shl 14

/**
 * A vector that was found.
 *
 * @property index its number.
 * @property score its cosine with the query, as 8-bit vectors give it.
 */
data class Hit(val index: Int, val score: Float)

/** How vectors are kept: in 8 bits a number, or in one, its sign. */
enum class VectorForm { INT8, BIT }

/**
 * A vector in 8 bits: the numbers of a vector of norm 1, divided by [scale] and rounded. A zero vector has the scale 0.
 */
internal class Int8Vector(val values: ByteArray, val scale: Float) {
    companion object {
        /**
         * Rounds a vector; [VectorForm.BIT] keeps -1 and 1.
         *
         * @throws KerasBertException when a number is NaN or infinite.
         */
        fun of(vector: DoubleArray, form: VectorForm = VectorForm.INT8): Int8Vector {
            var squares = 0.0
            var largest = 0.0
            for (value in vector) {
                if (value.isNaN() || value.isInfinite()) {
                    throw KerasBertException("expected a vector of finite numbers, received $value; the model is damaged, convert it again")
                }
                squares += value * value
                largest = Math.max(largest, Math.abs(value))
            }
            if (form == VectorForm.BIT) {
                val signs = ByteArray(vector.size) { if (vector[it] < 0) -1 else 1 }
                return Int8Vector(signs, if (largest == 0.0) 0f else (1 / Math.sqrt(vector.size.toDouble())).toFloat())
            }
            if (largest == 0.0) return Int8Vector(ByteArray(vector.size), 0f)
            // Rounding does not depend on the norm: both sides of value / (largest / 127) are divided by it.
            val step = largest / LARGEST
            val values = ByteArray(vector.size) { Math.rint(vector[it] / step).toInt().toByte() }
            return Int8Vector(values, (step / Math.sqrt(squares)).toFloat())
        }
    }
}

/**
 * Vectors of one length in 8 bits, for exact search by cosine. A vector takes one byte a dimension and four for its scale.
 *
 * The products of two vectors are whole numbers, so a search has the same result on every device. It may be searched by several threads
 * while none changes it.
 *
 * @property dimensions the numbers in a vector.
 */
class VectorIndex(val dimensions: Int) {
    private var values = ByteArray(0)
    private var scales = FloatArray(0)

    private val most get() = Int.MAX_VALUE / dimensions - 1

    init {
        if (dimensions !in 1..MOST_DIMENSIONS) {
            throw KerasBertException("expected vectors of 1 to $MOST_DIMENSIONS dimensions, received $dimensions; use another model")
        }
    }

    /** The number of vectors. */
    var size = 0
        private set

    /** Bytes of memory that the vectors take. */
    val bytes: Long get() = values.size.toLong() + 4L * scales.size

    /**
     * Adds a vector of any norm at the end.
     *
     * @throws KerasBertException when it has another length, or a number is not finite.
     */
    fun add(vector: FloatArray) = add(doubles(vector), VectorForm.INT8)

    internal fun add(vector: DoubleArray, form: VectorForm) = add(Int8Vector.of(checked(vector), form))

    /** Takes memory for some vectors at once, where their number is known. */
    internal fun reserve(count: Int) {
        if (count <= scales.size) return
        if (count > most) throw KerasBertException("expected at most $most vectors of $dimensions dimensions, received more; split the texts")
        values = values.copyOf(count * dimensions)
        scales = scales.copyOf(count)
    }

    internal fun add(vector: Int8Vector) {
        if (size == scales.size) reserve(maxOf(size + 1, minOf(size * 3L / 2, most.toLong()).toInt(), 16))
        System.arraycopy(vector.values, 0, values, size * dimensions, dimensions)
        scales[size++] = vector.scale
    }

    /** Removes a vector. The numbers of those behind it become smaller by one. */
    fun removeAt(index: Int) {
        if (index !in 0 until size) throw KerasBertException("expected a vector from 0 to ${size - 1} to remove, received $index")
        System.arraycopy(values, (index + 1) * dimensions, values, index * dimensions, (size - index - 1) * dimensions)
        System.arraycopy(scales, index + 1, scales, index, size - index - 1)
        size--
    }

    /**
     * Finds the vectors with the largest cosines.
     *
     * @param query a vector of any norm.
     * @param top the most vectors to find.
     * @return the best first; of equal ones, those with the smallest numbers.
     */
    fun search(query: FloatArray, top: Int): List<Hit> = search(doubles(query), top)

    internal fun search(query: DoubleArray, top: Int): List<Hit> {
        if (top < 1) throw KerasBertException("expected at least 1 result to find, received $top; raise it")
        val wanted = Int8Vector.of(checked(query))
        val best = TopScores(minOf(top, size))
        for (index in 0 until size) best.offer(index, score(wanted, index))
        return best.best().map { Hit(it, (score(wanted, it) * wanted.scale).toFloat()) }
    }

    internal fun at(index: Int): Int8Vector =
        Int8Vector(values.copyOfRange(index * dimensions, (index + 1) * dimensions), scales[index])

    /** The cosine, without the query's scale. It is exact: a product has 28 bits at most, and a float's fraction 24. */
    private fun score(query: Int8Vector, index: Int): Double {
        val (mine, theirs) = query.values to values
        val start = index * dimensions
        var product = 0
        for (place in mine.indices) product += mine[place] * theirs[start + place]
        return product * scales[index].toDouble()
    }

    private fun checked(vector: DoubleArray): DoubleArray {
        if (vector.size != dimensions) {
            throw KerasBertException("expected a vector of $dimensions dimensions, received ${vector.size}; encode texts with the same model")
        }
        return vector
    }
}

internal fun doubles(vector: FloatArray) = DoubleArray(vector.size) { vector[it].toDouble() }
