package kerasbert.core.text

import kerasbert.core.KerasBertException
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

/** Sequences of one text or two, truncation and windows. */
class SequenceTest {
    private val vocabulary = listOf("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", "d")
    private val tokenizer = tokenizerOf(emptyMap(), vocabulary)

    @Test
    fun aPairHasTypesAndPlacesOfItsOwnTexts() {
        val encoded = tokenizer.encode("a b", "\uD83D\uDE00 c", 16)
        assertArrayEquals(intArrayOf(2, 5, 6, 3, 1, 7, 3), encoded.ids)
        assertArrayEquals(intArrayOf(0, 0, 0, 0, 1, 1, 1), encoded.typeIds)
        assertArrayEquals(intArrayOf(0, 0, 2, 0, 0, 3, 0), encoded.starts)
        assertArrayEquals(intArrayOf(0, 1, 3, 0, 2, 4, 0), encoded.ends)
        assertArrayEquals(intArrayOf(-1, 0, 0, -1, 1, 1, -1), encoded.texts)
        assertEquals(false, encoded.truncated)
    }

    @Test
    fun truncationTakesTheEndOfATextAway() {
        val encoded = tokenizer.encode("a b c d", maxLength = 4)
        assertArrayEquals(intArrayOf(2, 5, 6, 3), encoded.ids)
        assertTrue(encoded.truncated)
        assertEquals(Pair(3, 2), Truncation.LONGEST_FIRST.lengths(9, 2, 5))
        assertEquals(Pair(2, 3), Truncation.LONGEST_FIRST.lengths(9, 9, 5))
        assertEquals(Pair(3, 2), Truncation.LONGEST_FIRST.lengths(9, 8, 5))
        assertEquals(Pair(1, 4), Truncation.ONLY_FIRST.lengths(9, 4, 5))
        assertEquals(Pair(4, 1), Truncation.of("only_second").lengths(4, 9, 5))
    }

    @Test
    fun lengthsThatCannotBe() {
        refuse("at least 2") { tokenizer.encode("a", maxLength = 1) }
        refuse("at least 3") { tokenizer.encode("a", "b", maxLength = 2) }
        refuse("a pair for truncation only_second") { tokenizer.encode("a", maxLength = 9, truncation = Truncation.ONLY_SECOND) }
        refuse("tokens of both texts") { tokenizer.encode("a b", "c d", 5, Truncation.ONLY_FIRST) }
        refuse("longest_first, only_first, only_second") { Truncation.of("middle") }
        refuse("room for at least one") { windows(5, 0, 1) }
        refuse("a stride from 1 to 4") { windows(5, 4, 5) }
        refuse("a stride from 1 to 4") { windows(5, 4, 0) }
    }

    @Test
    fun windowsOverlapAndEndWithTheText() {
        assertEquals(listOf(Window(0, 4), Window(3, 7), Window(6, 8)), windows(8, 4, 3))
        assertEquals(listOf(Window(0, 4)), windows(4, 4, 1))
        assertEquals(listOf(Window(0, 0)), windows(0, 4, 2))
        assertEquals(Window(Int.MAX_VALUE - 2, Int.MAX_VALUE), windows(Int.MAX_VALUE, Int.MAX_VALUE - 1, Int.MAX_VALUE - 2)[1])
        assertEquals(listOf(-1, 0, 1, 1, 0, -1), (2..7).map { maxContext(it, Window(3, 7)) })
        assertEquals(250, defaultStride(384, 378))
        assertEquals(5, defaultStride(384, 10))
    }

    @Test
    fun codePointsAreThoseOfPython() {
        val points = CodePoints("a\uD83D\uDE00\uDE00\uD83Db")
        assertEquals(listOf(0, 1, 1, 2, 3, 4, 5), (0..6).map(points::ofUnit))
        assertEquals(5, points.size)
        assertEquals(3, CodePoints("abc").size)
    }

    private fun refuse(part: String, action: () -> Unit) {
        val message = assertThrows(KerasBertException::class.java) { action() }.message!!
        assertTrue(message, part in message && message.startsWith("expected "))
    }
}
