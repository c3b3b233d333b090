package kerasbert.core.text

/**
 * The words of a text, and the pieces in which a raw text would be split; see `kerasbert.processors.words` in Python.
 *
 * All places are UTF-16 units of [text].
 *
 * @property text the text.
 * @property words its words in their order.
 * @property starts the first unit of each word.
 * @property ends the unit after each word.
 * @property pieceStarts the first unit of each piece.
 * @property pieceEnds the unit after each piece.
 * @property owners the number of each piece's word.
 */
class Words internal constructor(
    val text: String,
    val words: List<String>,
    val starts: IntArray,
    val ends: IntArray,
    val pieceStarts: IntArray,
    val pieceEnds: IntArray,
    val owners: IntArray,
) {
    /** The number of words. */
    val size: Int get() = words.size

    /** Returns the number of the first token with a character of each piece; -1 where there is none. Pieces may share a token. */
    fun firstTokens(tokens: Tokens): IntArray {
        val first = IntArray(owners.size)
        var token = 0
        for (piece in owners.indices) {
            // Ends of tokens may go back where a word has two of one character.
            while (token < tokens.size && tokens.ends[token] <= pieceStarts[piece]) token++
            first[piece] = if (token < tokens.size && tokens.starts[token] < pieceEnds[piece]) token else -1
        }
        return first
    }

    companion object {
        /**
         * Splits a text into words: at white space, and around punctuation, ideographs and kana. Each word is one piece.
         *
         * @param text the text.
         */
        fun of(text: String): Words {
            val (starts, ends) = pieces(text)
            val words = List(starts.size) { text.substring(starts[it], ends[it]) }
            return Words(text, words, starts, ends, starts, ends, IntArray(starts.size) { it })
        }

        /**
         * Joins words by single spaces. A given word may have several pieces, such as `U.S.`.
         *
         * @param words the words.
         */
        fun of(words: List<String>): Words {
            val text = words.joinToString(" ")
            val starts = IntArray(words.size)
            val ends = IntArray(words.size)
            var at = 0
            for (number in words.indices) {
                starts[number] = at
                ends[number] = at + words[number].length
                at = ends[number] + 1
            }
            val (pieceStarts, pieceEnds) = pieces(text)
            var owner = 0
            val owners = IntArray(pieceStarts.size) { piece ->
                while (ends[owner] <= pieceStarts[piece]) owner++
                owner
            }
            return Words(text, words.toList(), starts, ends, pieceStarts, pieceEnds, owners)
        }

        private fun pieces(text: String): Pair<IntArray, IntArray> {
            val starts = IntList()
            val ends = IntList()
            var wordStart = -1
            var at = 0
            while (at < text.length) {
                val codePoint = text.codePointAt(at)
                val end = at + Character.charCount(codePoint)
                val isIsolated = WordCharacters.isIsolated(codePoint)
                val isLetter = !isIsolated && !WordCharacters.isWhiteSpace(codePoint)
                if (!isLetter && wordStart >= 0) {
                    starts.add(wordStart)
                    ends.add(at)
                    wordStart = -1
                }
                if (isIsolated) {
                    starts.add(at)
                    ends.add(end)
                } else if (isLetter && wordStart < 0) {
                    wordStart = at
                }
                at = end
            }
            if (wordStart >= 0) {
                starts.add(wordStart)
                ends.add(text.length)
            }
            return Pair(starts.toArray(), ends.toArray())
        }
    }
}
