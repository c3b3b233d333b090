package kerasbert.core.text

/**
 * Collects the letters of a word, and splits it into pieces: greedy longest match (Devlin et al. 2019, arXiv:1810.04805).
 *
 * @param pieces the vocabulary.
 * @param unkId the token for a word that has no pieces, or is too long.
 * @param tokens receives the tokens.
 * @param limit the length of the longest word.
 * @param countsBytes whether a letter counts as its bytes in UTF-8, or as one.
 */
internal class WordBuffer(
    private val pieces: PieceTable,
    private val unkId: Int,
    private val tokens: TokenBuffer,
    private val limit: Int,
    private val countsBytes: Boolean = false,
) : WordSink {
    private val letters = CharArray(2 * limit)
    private val starts = IntArray(2 * limit)
    private val ends = IntArray(2 * limit)
    private val hashes = IntArray(2 * limit + 1)
    private var size = 0
    private var length = 0 // in the unit of the limit
    private var lastEnd = 0

    override fun letter(codePoint: Int, start: Int, end: Int) {
        length += if (countsBytes) bytes(codePoint) else 1
        lastEnd = end
        if (length > limit) return // no letter of a word that is too long is needed but its first
        if (codePoint < Character.MIN_SUPPLEMENTARY_CODE_POINT) {
            add(codePoint.toChar(), start, end)
        } else {
            add(Character.highSurrogate(codePoint), start, end)
            add(Character.lowSurrogate(codePoint), start, end)
        }
    }

    override fun punctuation(codePoint: Int, start: Int, end: Int) {
        endWord()
        letter(codePoint, start, end)
        endWord()
    }

    override fun space(start: Int, end: Int) = endWord()

    /** Splits the word so far, if there is one. */
    fun endWord() {
        if (length == 0) return
        if (length > limit) tokens.add(unkId, starts[0], lastEnd) else split()
        size = 0
        length = 0
    }

    private fun add(letter: Char, start: Int, end: Int) {
        letters[size] = letter
        starts[size] = start
        ends[size] = end
        size++
    }

    private fun split() {
        val before = tokens.size
        var from = 0
        while (from < size) {
            val isFirst = from == 0
            var to = minOf(size, from + pieces.longest)
            hash(from, to, isFirst)
            var id = -1
            while (to > from) {
                id = pieces.find(hashes[to], letters, from, to, isFirst)
                if (id >= 0) break
                to--
            }
            if (id < 0) {
                tokens.truncate(before)
                tokens.add(unkId, starts[0], lastEnd)
                return
            }
            tokens.add(id, starts[from], ends[to - 1])
            from = to
        }
    }

    /** Fills [hashes] with those of the letters from [from] to each place up to [to]. */
    private fun hash(from: Int, to: Int, isFirst: Boolean) {
        var hash = pieces.seed(isFirst)
        for (place in from until to) {
            hash = pieces.next(hash, letters[place])
            hashes[place + 1] = hash
        }
    }

    private fun bytes(codePoint: Int): Int = when {
        codePoint < 0x80 -> 1
        codePoint < 0x800 -> 2
        codePoint < 0x10000 -> 3
        else -> 4
    }
}
