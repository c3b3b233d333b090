package kerasbert.core.text

import org.junit.Assert.assertTrue
import org.junit.Test

/** The golden vectors tell a tokenizer with a fault from the right one. */
class ComparisonFailsTest {
    @Test
    fun accentsThatStay() = assertDiffers("ids", changed("characters-uncased", "strip_accents" to false))

    @Test
    fun ideographsThatAreNotSplit() = assertDiffers("ids", changed("characters-cased", "tokenize_chinese_chars" to false))

    @Test
    fun capitalsThatStay() = assertDiffers("ids", changed("small-en", "lowercase" to false))

    @Test
    fun addedTokensWithoutTheirFields() =
        assertDiffers("offsets", changed("characters-uncased", "added_tokens" to emptyList<Any>()))

    @Test
    fun offsetsOfOneLess() = assertDiffers("offsets", case("small-en").let { Pair(it, Shifted(it.tokenizer())) })

    @Test
    fun aWordThatIsLeftOut() = assertDiffers("ids", case("japanese").let { Pair(it, WithoutLast(it.tokenizer())) })

    private fun case(name: String): GoldenCase = GoldenFolder.small.cases.single { it.name == name }

    private fun changed(name: String, vararg settings: Pair<String, Any?>): Pair<GoldenCase, Tokenizer> {
        val case = case(name)
        return Pair(case, tokenizerOf(case.settings + settings, case.vocabulary))
    }

    private fun assertDiffers(what: String, wrong: Pair<GoldenCase, Tokenizer>) {
        val (case, tokenizer) = wrong
        val comparison = GoldenComparison(case, GoldenFolder.small.texts, tokenizer).tokens().pairs().windows().words()
        println(comparison.toString().lineSequence().first())
        assertTrue(comparison.toString(), (comparison.mismatches[what] ?: 0) > 10)
    }

    private class Shifted(private val right: Tokenizer) : Tokenizer by right {
        override fun tokens(text: String): Tokens =
            right.tokens(text).let { Tokens(it.ids, it.starts.map { start -> maxOf(0, start - 1) }.toIntArray(), it.ends) }
    }

    private class WithoutLast(private val right: Tokenizer) : Tokenizer by right {
        override fun tokens(text: String): Tokens = right.tokens(text).let { it.slice(0, maxOf(0, it.size - 1)) }
    }
}
