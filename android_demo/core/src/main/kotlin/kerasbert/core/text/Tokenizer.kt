package kerasbert.core.text

/**
 * The tokens of one text, without special tokens around it.
 *
 * @property ids the token ids.
 * @property starts the first UTF-16 unit of each token in the text as it was passed.
 * @property ends the UTF-16 unit after each token's last one.
 */
class Tokens(val ids: IntArray, val starts: IntArray, val ends: IntArray) {
    /** The number of tokens. */
    val size: Int get() = ids.size

    /** Returns the tokens from [start] up to but not including [end]; their places stay those in the whole text. */
    fun slice(start: Int, end: Int): Tokens =
        Tokens(ids.copyOfRange(start, end), starts.copyOfRange(start, end), ends.copyOfRange(start, end))
}

/** A tokenizer whose ids equal those of kerasbert in Python, see `kerasbert.text.Tokenizer`. It may be shared by threads. */
interface Tokenizer {
    /** The tokens in the order of their ids. */
    val vocabulary: List<String>

    /** Id of the padding token. */
    val padId: Int

    /** Id of the unknown token. */
    val unkId: Int

    /** Id of the token at the start of a sequence. */
    val clsId: Int

    /** Id of the token after each text. */
    val sepId: Int

    /** Id of the mask token. */
    val maskId: Int

    /** The longest sequence of the checkpoint in tokens, special tokens included, or null. */
    val maxLength: Int?

    /** The number of separators between the texts of a pair. */
    val separators: Int get() = 1

    /** The token type of the second text. */
    val secondType: Int get() = 1

    /** Returns the number of special tokens in a sequence of one text, or of two. */
    fun specialTokens(paired: Boolean): Int = if (paired) 2 + separators else 2

    /** Splits a text into tokens. A lone surrogate is treated as a character that the tokenizer drops. */
    fun tokens(text: String): Tokens
}
