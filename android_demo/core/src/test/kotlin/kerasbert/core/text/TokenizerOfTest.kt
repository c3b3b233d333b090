package kerasbert.core.text

import kerasbert.core.KerasBertException
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

private val VOCABULARY = listOf("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "wake", "me", "##up", "\u6771", "\u4EAC")

class TokenizerOfTest {
    @Test
    fun theDefaultIsAnUncasedWordPiece() {
        val tokenizer = tokenizerOf(emptyMap(), VOCABULARY)
        assertArrayEquals(intArrayOf(5, 7, 6, 4), tokenizer.tokens("WAKEUP m\u00E9 [MASK]").ids)
        assertEquals(listOf(0, 1, 2, 3, 4), tokenizer.run { listOf(padId, unkId, clsId, sepId, maskId) })
        assertEquals(null, tokenizer.maxLength)
    }

    @Test
    fun settingsOfAFile() {
        val settings = mapOf(
            "kind" to "wordpiece",
            "lowercase" to false,
            "strip_accents" to null,
            "tokenize_chinese_chars" to true,
            "unk_token" to "[MASK]",
            "model_max_length" to 512L,
        )
        val tokenizer = tokenizerOf(settings, VOCABULARY)
        assertArrayEquals(intArrayOf(5, 4, 8, 9), tokenizer.tokens("wake Me\u6771\u4EAC").ids)
        assertEquals(512, tokenizer.maxLength)
        assertEquals(null, tokenizerOf(mapOf("model_max_length" to 1e30), VOCABULARY).maxLength)
    }

    @Test
    fun faultsAreOneSentence() {
        refuse("kind wordpiece, client_wordpiece, japanese or xlm_roberta", "kind" to "elmo")
        refuse("kind sentencepiece", "kind" to "sentencepiece")
        refuse("kind byte_level_bpe", "kind" to "byte_level_bpe")
        refuse("need MeCab", "kind" to "japanese")
        refuse("need MeCab", "kind" to "japanese", "subwords" to "wordpiece")
        refuse("received 'subwords'", "subwords" to "character")
        refuse("kind of a tokenizer as a text", "kind" to 5L)
        refuse("lowercase of a tokenizer as true or false", "lowercase" to "yes")
        refuse("unk_token of a tokenizer as a text", "unk_token" to 1L)
        refuse("the cls_token in the vocabulary", "cls_token" to "<s>")
        refuse("model_max_length of a tokenizer as a positive number", "model_max_length" to 0L)
        refuse("mediapipe or task-library", "kind" to "client_wordpiece")
        refuse("mediapipe or task-library", "kind" to "client_wordpiece", "tokenize_as" to "siri")
        refuse("unk_token [UNK]", "kind" to "client_wordpiece", "tokenize_as" to "mediapipe", "unk_token" to "me")
        refuse("list of objects with content", "added_tokens" to "me")
        refuse("list of objects with content", "added_tokens" to listOf("me"))
        refuse("list of objects with content", "added_tokens" to listOf(mapOf("content" to "me", "lstrip" to 1L)))
        refuse("list of objects with content", "added_tokens" to listOf(mapOf("content" to "me", "greedy" to true)))
        refuse("every added token in the vocabulary", "added_tokens" to listOf(mapOf("content" to "you")))
    }

    @Test
    fun faultsOfTheVocabulary() {
        refuse("expected a vocabulary, received none", vocabulary = emptyList())
        refuse("'me' as tokens 6 and 10", vocabulary = VOCABULARY + "me")
        refuse("the mask_token in the vocabulary", vocabulary = VOCABULARY - "[MASK]")
        val accent = VOCABULARY + "\u0301"
        val added = "added_tokens" to listOf(mapOf("content" to "\u0301", "normalized" to true))
        refuse("at least one character after normalization", added, vocabulary = accent)
        refuse("an empty token", "kind" to "client_wordpiece", "tokenize_as" to "mediapipe", vocabulary = listOf("") + VOCABULARY)
    }

    @Test
    fun anEmptyTokenKeepsItsId() {
        val tokenizer = tokenizerOf(emptyMap(), listOf("") + VOCABULARY)
        assertArrayEquals(intArrayOf(6), tokenizer.tokens("wake").ids)
    }

    private fun refuse(part: String, vararg settings: Pair<String, Any?>, vocabulary: List<String> = VOCABULARY) {
        val error = assertThrows(KerasBertException::class.java) { tokenizerOf(mapOf(*settings), vocabulary) }
        val message = error.message!!
        assertTrue(message, part in message && message.startsWith("expected ") && "received" in message && '\n' !in message)
    }
}
