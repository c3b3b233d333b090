package kerasbert.core.text

import kerasbert.core.KerasBertException
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

/** The tokenizer of XLM-RoBERTa, beside the golden vectors. */
class XlmRobertaTest {
    private val golden = GoldenFolder.small.cases.single { it.name == "xlm-roberta" }
    private val tokenizer = golden.tokenizer()

    private fun tokensOf(text: String) = tokenizer.tokens(text).ids.map { golden.vocabulary[it] }

    @Test
    fun aPairHasTwoSeparatorsAndTypesOfZero() {
        val encoded = tokenizer.encode("the film", "good", 32)
        val (first, second) = listOf("the film", "good").map { tokenizer.tokens(it).ids }
        assertArrayEquals(intArrayOf(0) + first + intArrayOf(2, 2) + second + intArrayOf(2), encoded.ids)
        assertTrue(encoded.typeIds.all { it == 0 })
        val error = assertThrows(KerasBertException::class.java) { tokenizer.encode("a", "b", 3) }
        assertTrue(error.message, error.message!!.contains("at least 4, the special tokens"))
    }

    @Test
    fun theMaskTakesTheSpaceBeforeIt() {
        assertEquals(listOf("\u2581the", "<mask>", "\u2581film"), tokensOf("the <mask> film"))
        assertArrayEquals(intArrayOf(0, 3), tokenizer.tokens("the  <mask>").starts)
    }

    @Test
    fun unknownCharactersInARowAreOneToken() {
        assertEquals(listOf("\u2581", "<unk>", "\u2581film"), tokensOf("\uD80C\uDC00\uD80C\uDC01\uD80C\uDC02 film"))
        assertArrayEquals(tokenizer.tokens("a\uFFFDb").ids, tokenizer.tokens("a\uD800b").ids)
    }

    @Test
    fun damagedModelsAreRefused() {
        val model = golden.settings["model"] as String
        refuse("received another text", mapOf("model" to "?"))
        refuse("received none", mapOf("model" to null))
        refuse("received the first part of one", mapOf("model" to model.take(4000)))
        refuse("received 'lowercase'", mapOf("lowercase" to true))
        refuse("vocabulary of the SentencePiece model", emptyMap(), listOf("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
        val normalized = listOf(mapOf("content" to "<mask>"), mapOf("content" to "qzq", "normalized" to true))
        refuse("the normalized 'qzq'", mapOf("added_tokens" to normalized), golden.vocabulary + "qzq")
    }

    @Test
    fun changedBytesOfAModelAreNoOtherError() {
        val bytes = java.util.Base64.getDecoder().decode(golden.settings["model"] as String)
        for (at in 7 until bytes.size step 9973) {
            val damaged = bytes.copyOf().also { it[at] = (it[at].toInt() xor 0x55).toByte() }
            val settings = golden.settings + ("model" to java.util.Base64.getEncoder().encodeToString(damaged))
            try {
                tokenizerOf(settings, golden.vocabulary).tokens("the caf\u00E9 \uFB01lm")
            } catch (_: KerasBertException) {
                continue // it is refused
            }
        }
    }

    private fun refuse(part: String, changes: Map<String, Any?>, vocabulary: List<String> = golden.vocabulary) {
        val error = assertThrows(KerasBertException::class.java) { tokenizerOf(golden.settings + changes, vocabulary) }
        assertTrue("$part in ${error.message}", error.message!!.contains(part))
    }
}
