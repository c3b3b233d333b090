package kerasbert.core.search

import java.io.File
import kerasbert.core.file.Json
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

class RerankingTest {
    private val file = File(System.getProperty("kerasbert.testdata") ?: "../testdata", "reranking.json")

    private fun doubles(numbers: Any?) = (numbers as List<*>).map { (it as Number).toDouble() }

    @Test
    fun `the order is that of Python`() {
        val cases = (Json.parse(file.readText(), file.name) as List<*>).map { it as Map<*, *> }
        for (case in cases) {
            val expected = (case["order"] as List<*>).map { (it as Number).toInt() }
            assertEquals(expected, Reranking.order(doubles(case["cosines"]), doubles(case["scores"]), (case["weight"] as Number).toDouble()))
        }
        assertTrue(cases.size > 5)
    }

    @Test
    fun `texts that were found are scored as pairs with the query`() {
        val asked = ArrayList<Pair<String, String>>()
        val found = listOf(Match(4, "a", 0.9f), Match(2, "abc", 0.8f), Match(7, "ab", 0.1f))
        val score = { query: String, text: String -> text.length.toFloat().also { asked += query to text } }
        assertEquals(listOf(2, 4, 7), Reranking.rerank("q", found, score = score).map { it.match.index })
        assertEquals(listOf("q" to "a", "q" to "abc", "q" to "ab"), asked)
        assertEquals(listOf(Reranked(found[1], 3f), Reranked(found[2], 2f), Reranked(found[0], 1f)), Reranking.rerank("q", found, 1.0, score))
        assertEquals(listOf(4, 2, 7), Reranking.rerank("q", found, 0.0, score).map { it.match.index })
        assertEquals(emptyList<Reranked>(), Reranking.rerank("q", emptyList(), score = score))
    }
}
