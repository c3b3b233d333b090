package kerasbert.core.text

import java.lang.management.ManagementFactory
import java.util.Random
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

private const val UNITS = 1_000_000
private const val MOST_SECONDS = 20.0 // processor time on a slow machine; quadratic time would be hours

/** Texts of a million UTF-16 units that a person may paste: no crash, and time in proportion to the length. */
class LongTextTest {
    private val names = setOf("small-en", "characters-accents", "characters-uncased", "japanese", "mediapipe")
    private val tokenizers = GoldenFolder.small.cases.filter { it.name in names }.map { it.tokenizer() }

    @Test
    fun ordinaryWords() = check("The quick brown fox, don't jump! ")

    @Test
    fun onlyEmoji() = check("\uD83D\uDC69\u200D\uD83D\uDC69\u200D\uD83D\uDC67\uD83D\uDE00\uD83D\uDC4D\uD83C\uDFFD")

    @Test
    fun rightToLeft() = check("\u0645\u0631\u062D\u0628\u0627 \u05E9\u05B8\u05C1\u05DC\u05D5\u05B9\u05DD \u202E\u0627\u200F")

    @Test
    fun loneSurrogates() = check("\uD83D\uD83D\uDE00\uDE00a\uDC00\uD800")

    @Test
    fun zeroWidthJoiners() = check("\u200D\u200C\uFEFF\u2060\u200B")

    @Test
    fun oneWord() = check("supercalifragilistic")

    @Test
    fun unknownIdeographs() = check("\uD840\uDC0B\u4E00\u9FA5")

    @Test
    fun onlyMarks() = check("\u0301\u0323\u302E\u0F73\u093C\u3099")

    @Test
    fun lettersWithMarks() = check("e\u0301\u1112\u1161\u11AB\uFF76\uFF9E\uAC00\u11A8")

    @Test
    fun vowelsThatMayCompose() = check("\u1161")

    @Test
    fun openBrackets() = check("[")

    @Test
    fun specialTokens() = check("[MASK] ")

    @Test
    fun spaces() = check(" \t\n\u3000")

    @Test
    fun anyUnits() {
        val draw = Random(0)
        check(String(CharArray(UNITS) { draw.nextInt(0x10000).toChar() }))
    }

    private fun check(unit: String) {
        val text = unit.repeat(UNITS / unit.length + 1)
        val clock = ManagementFactory.getThreadMXBean()
        val before = clock.currentThreadCpuTime
        for (tokenizer in tokenizers) {
            val tokens = tokenizer.tokens(text)
            checkPlaces(tokens, text, tokenizer.vocabulary.size)
            assertTrue(tokenizer.join(tokens, tokens, 128).size <= 128)
            assertEquals(tokens.size, windows(tokens.size, 100, 50).last().end)
        }
        val words = Words.of(text)
        assertEquals(words.owners.size, words.firstTokens(tokenizers[0].tokens(text)).size)
        val seconds = (clock.currentThreadCpuTime - before) / 1e9
        assertTrue("expected at most $MOST_SECONDS s, received $seconds", seconds < MOST_SECONDS)
    }

    private fun checkPlaces(tokens: Tokens, text: String, size: Int) {
        var before = 0
        for (token in 0 until tokens.size) {
            assertTrue(tokens.ids[token] in 0 until size)
            assertTrue(tokens.starts[token] >= before && tokens.starts[token] < tokens.ends[token] && tokens.ends[token] <= text.length)
            for (place in listOf(tokens.starts[token], tokens.ends[token])) {
                val isInsidePair = place in 1 until text.length && text[place - 1].isHighSurrogate() && text[place].isLowSurrogate()
                assertTrue("expected no place inside a pair, received $place", !isInsidePair)
            }
            before = tokens.starts[token]
        }
    }
}
