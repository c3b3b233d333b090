package kerasbert.core

import java.util.Random
import org.junit.Assert.assertEquals
import org.junit.Test

class TopScoresTest {
    @Test
    fun `the largest are kept, and of equal ones those with small numbers, in any order of offers`() {
        val draw = Random(3)
        repeat(300) {
            val scores = DoubleArray(draw.nextInt(80)) { draw.nextInt(12).toDouble() }
            val count = draw.nextInt(90)
            val top = TopScores(count)
            scores.indices.shuffled(draw).forEach { top.offer(it, scores[it]) }
            assertEquals(scores.indices.sortedWith(compareBy({ -scores[it] }, { it })).take(count), top.best())
        }
    }
}
