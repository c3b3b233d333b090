package kerasbert.core.text

import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Test

class WordsTest {
    @Test
    fun wordsOfAText() {
        val words = Words.of("Hi, U.S. \u6771\u4EAC\u30BF\u30EF\u30FC\uD83D\uDE00x")
        val expected = listOf("Hi", ",", "U", ".", "S", ".", "\u6771", "\u4EAC", "\u30BF", "\u30EF", "\u30FC", "\uD83D\uDE00x")
        assertEquals(expected, words.words)
        assertEquals(expected.size, words.size)
        assertEquals(expected, words.starts.indices.map { words.text.substring(words.starts[it], words.ends[it]) })
    }

    @Test
    fun givenWordsKeepTheirPieces() {
        val words = Words.of(listOf("U.S.", "", "don't"))
        assertEquals("U.S.  don't", words.text)
        assertArrayEquals(intArrayOf(0, 5, 6), words.starts)
        assertArrayEquals(intArrayOf(4, 5, 11), words.ends)
        assertArrayEquals(intArrayOf(0, 0, 0, 0, 2, 2, 2), words.owners)
    }

    @Test
    fun firstTokensOfPieces() {
        val words = Words.of("ab cd \u200B ef")
        val tokens = Tokens(IntArray(3), intArrayOf(0, 1, 8), intArrayOf(1, 4, 10))
        assertArrayEquals(intArrayOf(0, 1, -1, 2), words.firstTokens(tokens))
        assertArrayEquals(intArrayOf(-1, -1, -1, -1), words.firstTokens(Tokens(IntArray(0), IntArray(0), IntArray(0))))
    }
}
