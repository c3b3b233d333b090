package kerasbert.core.search

import java.util.Random
import kerasbert.core.assertRefused
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

class VectorIndexTest {
    private val draw = Random(1)

    private fun vector(size: Int) = FloatArray(size) { draw.nextGaussian().toFloat() }

    private fun cosine(one: FloatArray, other: FloatArray): Double {
        fun dot(a: FloatArray, b: FloatArray) = a.indices.sumOf { a[it].toDouble() * b[it] }
        return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other))
    }

    @Test
    fun `a vector is stored as whole numbers with one scale`() {
        val stored = Int8Vector.of(doubles(floatArrayOf(3f, -4f, 0f, 2f)))
        assertArrayEquals(byteArrayOf(95, -127, 0, 64), stored.values) // 3 / 4 * 127 = 95.25, 2 / 4 * 127 = 63.5, half to even
        assertEquals(4 / 127.0 / Math.sqrt(29.0), stored.scale.toDouble(), 1e-9)
    }

    @Test
    fun `the best are those of exact cosines, within the error of 8 bits`() {
        val vectors = List(500) { vector(64) }
        val index = VectorIndex(64)
        vectors.forEach(index::add)
        repeat(50) {
            val query = vector(64)
            val hits = index.search(query, 10)
            assertEquals(10, hits.size)
            assertEquals(hits.sortedByDescending { it.score }, hits)
            for (hit in hits) assertEquals(cosine(query, vectors[hit.index]), hit.score.toDouble(), 0.01)
            val exact = vectors.indices.sortedByDescending { cosine(query, vectors[it]) }
            assertTrue(hits[0].index in exact.take(3))
            assertTrue(hits.count { it.index in exact.take(10) } >= 8)
        }
    }

    @Test
    fun `the length of a vector does not matter`() {
        val (query, vector) = vector(8) to vector(8)
        val index = VectorIndex(8)
        index.add(vector)
        index.add(FloatArray(8) { vector[it] * 1e30f })
        index.add(FloatArray(8) { vector[it] * 1e-30f })
        val hits = index.search(FloatArray(8) { query[it] * 100 }, 5)
        assertEquals(listOf(0, 1, 2), hits.map { it.index })
        for (hit in hits) assertEquals(cosine(query, vector), hit.score.toDouble(), 0.02)
    }

    @Test
    fun `equal vectors are found in their order`() {
        val index = VectorIndex(2)
        repeat(40) { index.add(floatArrayOf(1f, if (it == 30) 0f else 1f)) }
        assertEquals(listOf(30, 0, 1, 2), index.search(floatArrayOf(1f, 0f), 4).map { it.index })
    }

    @Test
    fun `vectors are removed`() {
        val index = VectorIndex(2)
        for (angle in 0..9) index.add(floatArrayOf(Math.cos(angle / 10.0).toFloat(), Math.sin(angle / 10.0).toFloat()))
        index.removeAt(0)
        index.removeAt(8)
        index.removeAt(3)
        assertEquals(7, index.size)
        // 1 2 3 5 6 7 8 are left; 5 is the nearest to 4.4, and 3 comes after it.
        assertEquals(listOf(3, 2), index.search(floatArrayOf(Math.cos(0.44).toFloat(), Math.sin(0.44).toFloat()), 2).map { it.index })
        repeat(7) { index.removeAt(0) }
        assertEquals(emptyList<Hit>(), index.search(floatArrayOf(1f, 0f), 3))
        assertRefused("to remove") { index.removeAt(0) }
    }

    @Test
    fun `zero vectors have the cosine 0`() {
        val index = VectorIndex(3)
        index.add(FloatArray(3))
        assertEquals(listOf(Hit(0, 0f)), index.search(floatArrayOf(1f, 2f, 3f), 1))
        assertEquals(0f, index.search(FloatArray(3), 1)[0].score, 0f)
    }

    @Test
    fun `what does not fit is refused`() {
        val index = VectorIndex(3)
        assertRefused("3 dimensions, received 2") { index.add(FloatArray(2)) }
        assertRefused("3 dimensions, received 4") { index.search(FloatArray(4), 1) }
        assertRefused("finite numbers, received NaN") { index.add(floatArrayOf(1f, Float.NaN, 0f)) }
        assertRefused("at least 1 result") { index.search(FloatArray(3), 0) }
        assertRefused("1 to 16384 dimensions") { VectorIndex(0) }
    }

    @Test
    fun `a vector takes a byte a dimension`() {
        val index = VectorIndex(384)
        repeat(1000) { index.add(vector(384)) }
        assertTrue("${index.bytes}", index.bytes in 388_000L..388_000L * 3 / 2)
    }
}
