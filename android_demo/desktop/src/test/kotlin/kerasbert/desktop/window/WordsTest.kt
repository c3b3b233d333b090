package kerasbert.desktop.window

import java.io.File
import java.util.Locale
import kerasbert.core.file.TaskType
import kerasbert.screens.Accelerator
import kerasbert.screens.FailureKind
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

class WordsTest {
    private val english = Words.of(Locale.US)
    private val german = Words.of(Locale.GERMANY)

    @Test
    fun `words come in the language, and in English for the others`() {
        assertEquals("Ask", english["screen_ask"])
        assertEquals("Fragen", german["screen_ask"])
        assertEquals("Ask", Words.of(Locale.JAPAN)["screen_ask"])
    }

    @Test
    fun `places are filled`() {
        assertEquals("97.1 %", english.format("percent", "97.1"))
        assertEquals("3 tokens · 1.52 ms · CPU", english.format("text_facts", english.plural("tokens", 3), "1.52", "CPU"))
        assertEquals(listOf("1 token", "2 tokens", "0 tokens"), listOf(1, 2, 0).map { english.plural("tokens", it) })
        assertEquals(listOf("1 Satz", "1.200 Sätze"), listOf(1 to "1", 1200 to "1.200").map { (count, shown) -> german.plural("sentences", count, shown) })
    }

    @Test
    fun `escapes and white space as on Android`() {
        assertEquals("it's \"here\"", unescape("it\\'s \\\"here\\\""))
        assertEquals("a b\nc\td\\e@?", unescape("  a \n   b\\nc\\td\\\\e\\@\\? "))
        assertEquals("é", unescape("\\u00e9"))
        assertEquals("  two  ", unescape("\"  two  \""))
        assertEquals("", unescape(" \n "))
    }

    @Test
    fun `every constant has a word`() {
        for (words in listOf(english, german)) {
            val names = TaskType.values().map(words::nameOf) + Accelerator.values().map(words::nameOf) + FailureKind.values().map(words::sentenceOf)
            assertTrue(names.toString(), names.none { it.isBlank() } && names.toSet().size == names.size)
        }
    }

    @Test
    fun `every word that the window says is there`() {
        val sources = File("src/main/kotlin/kerasbert/desktop/window").listFiles().orEmpty().joinToString("\n") { it.readText() }
        val strings = Regex("""words(?:\[(?:if \([^\[\]]*\) )?|\.format\((?:if \(.*\) )?)"(\w+)"(?: else "(\w+)")?""").findAll(sources)
            .flatMap { it.groupValues.drop(1) }.filter { it.isNotEmpty() }.toSet()
        val plurals = Regex("""words\.plural\("(\w+)"""").findAll(sources).map { it.groupValues[1] }.toSet()
        assertTrue("${strings.size} $plurals", strings.size > 40 && plurals == setOf("tokens", "windows", "sentences"))
        for (words in listOf(english, german)) {
            strings.forEach { words[it] }
            plurals.forEach { words.plural(it, 1) }
        }
        assertThrows(IllegalStateException::class.java) { english["none"] }
    }
}
