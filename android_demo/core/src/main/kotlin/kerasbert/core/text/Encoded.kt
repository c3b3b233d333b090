package kerasbert.core.text

import kerasbert.core.KerasBertException

/**
 * One sequence, such as `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]`, without padding.
 *
 * @property ids the token ids.
 * @property typeIds 0 for the first text and its special tokens, the type of the second text for that and its `[SEP]`.
 * @property starts the first UTF-16 unit of each token in its own text; 0 for the special tokens around the texts.
 * @property ends the UTF-16 unit after each token's last one; 0 for the special tokens around the texts.
 * @property texts 0 for tokens of the first text, 1 for those of the second, -1 for the special tokens around the texts.
 * @property truncated whether a text lost tokens.
 */
class Encoded internal constructor(
    val ids: IntArray,
    val typeIds: IntArray,
    val starts: IntArray,
    val ends: IntArray,
    val texts: IntArray,
    val truncated: Boolean,
) {
    /** The number of tokens. */
    val size: Int get() = ids.size
}

/**
 * Converts a text, or a pair of texts, to one sequence.
 *
 * @param text the first text.
 * @param pair the second text.
 * @param maxLength the most tokens, special ones included. Tokens are removed from the end of a text.
 * @param truncation the text that is truncated.
 * @throws KerasBertException when [maxLength] is too small for the special tokens or for the text that must not be truncated, or there is
 *   no second text to truncate.
 */
fun Tokenizer.encode(
    text: String,
    pair: String? = null,
    maxLength: Int,
    truncation: Truncation = Truncation.LONGEST_FIRST,
): Encoded = join(tokens(text), pair?.let(::tokens), maxLength, truncation)

/** As [encode], of texts that are tokens already. */
fun Tokenizer.join(
    first: Tokens,
    second: Tokens? = null,
    maxLength: Int,
    truncation: Truncation = Truncation.LONGEST_FIRST,
): Encoded {
    val special = specialTokens(second != null)
    if (second == null && truncation == Truncation.ONLY_SECOND) {
        throw KerasBertException("expected a pair for truncation only_second, received a single text")
    }
    if (maxLength < special) {
        throw KerasBertException("expected a maximum length of at least $special, the special tokens, received $maxLength")
    }
    val room = maxLength - special
    val (kept, keptOfSecond) =
        if (second == null) Pair(minOf(first.size, room), 0) else truncation.lengths(first.size, second.size, room)
    val truncated = kept < first.size || keptOfSecond < (second?.size ?: 0)
    return assemble(first, kept, second, keptOfSecond, truncated)
}

private fun Tokenizer.assemble(
    first: Tokens,
    kept: Int,
    second: Tokens?,
    keptOfSecond: Int,
    truncated: Boolean,
): Encoded {
    val size = kept + keptOfSecond + specialTokens(second != null)
    val encoded = Encoded(IntArray(size), IntArray(size), IntArray(size), IntArray(size), IntArray(size) { -1 }, truncated)
    encoded.ids[0] = clsId
    encoded.put(first, kept, 1, 0)
    encoded.ids[kept + 1] = sepId
    if (second != null) {
        val start = kept + 1 + separators
        encoded.ids.fill(sepId, kept + 1, start)
        encoded.put(second, keptOfSecond, start, 1)
        encoded.ids[size - 1] = sepId
        encoded.typeIds.fill(secondType, start, size)
    }
    return encoded
}

private fun Encoded.put(tokens: Tokens, count: Int, at: Int, text: Int) {
    System.arraycopy(tokens.ids, 0, ids, at, count)
    System.arraycopy(tokens.starts, 0, starts, at, count)
    System.arraycopy(tokens.ends, 0, ends, at, count)
    texts.fill(text, at, at + count)
}
