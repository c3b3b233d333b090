package kerasbert.core.text

import java.util.Random
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Test

/** A lone surrogate is as a character that the tokenizer drops. */
class LoneSurrogateTest {
    private val draw = Random(1)

    @Test
    fun wordPieceDropsItAsAReplacementCharacter() {
        for (name in listOf("small-en", "characters-cased", "characters-accents", "characters-uncased")) {
            val tokenizer = tokenizer(name)
            for (text in GoldenFolder.small.texts) {
                val at = place(text)
                val expected = tokenizer.tokens(text.substring(0, at) + "\uFFFD" + text.substring(at))
                val received = tokenizer.tokens(text.substring(0, at) + "\uD800" + text.substring(at))
                assertArrayEquals(text, expected.ids, received.ids)
                assertArrayEquals(text, expected.starts, received.starts)
                assertArrayEquals(text, expected.ends, received.ends)
            }
        }
    }

    @Test
    fun othersDropItToo() {
        for ((name, text) in listOf("japanese" to "\u4E00\uDC00\u4E01", "mediapipe" to "wa\uDC00ke")) {
            val tokenizer = tokenizer(name)
            val expected = tokenizer.tokens(text.replace("\uDC00", ""))
            val received = tokenizer.tokens(text)
            assertArrayEquals(expected.ids, received.ids)
            assertEquals(text.length, received.ends.last())
        }
    }

    private fun tokenizer(name: String): Tokenizer = GoldenFolder.small.cases.single { it.name == name }.tokenizer()

    /** A place that is not inside a pair. */
    private fun place(text: String): Int {
        val at = draw.nextInt(text.length + 1)
        return if (at in 1 until text.length && text[at].isLowSurrogate()) at - 1 else at
    }
}
