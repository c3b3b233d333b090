package kerasbert.core.text

private const val UNKNOWN_PENALTY = 10.0
private const val NONE = -1

/** The pieces of a unigram model by their letters, and their scores. It may be shared by threads. */
internal class UnigramPieces(model: SentencePieceModel) {
    val table = PieceTable(model.pieces, model.pieces.size, continuation = null)
    val scores = model.scores

    /** The score of a character without a piece. */
    val unknownScore = scores.min() - UNKNOWN_PENALTY
}

/**
 * The most likely segmentation of a word into the pieces of a unigram model (Kudo 2018, arXiv:1804.10959).
 *
 * As in `tokenizers`: an unknown character scores ten less than the least likely piece, and unknown characters in a row are one token.
 *
 * @param tokens receives the tokens.
 */
internal class UnigramWords(private val pieces: UnigramPieces, private val unkId: Int, private val tokens: TokenBuffer) {
    private val table = pieces.table
    private var units = CharArray(64)
    private var places = IntArray(64) // the character of each unit
    private var best = DoubleArray(65) // the score of the best segmentation up to each unit
    private var from = IntArray(65) // where its last piece begins
    private var ids = IntArray(65) // that piece

    /** Splits the word from the character [first] up to but not including [last]. */
    fun split(text: MappedText, first: Int, last: Int) {
        val size = read(text, first, last)
        search(size)
        val firsts = firsts(size)
        for (number in firsts.indices.reversed()) {
            val (start, end) = Pair(firsts[number], if (number == 0) size else firsts[number - 1])
            tokens.add(idOf(start, end), text.start(places[start]), text.end(places[end - 1]))
        }
    }

    /** Reads the UTF-16 units of a word, and returns their number. */
    private fun read(text: MappedText, first: Int, last: Int): Int {
        if (units.size < 2 * (last - first)) grow(2 * (last - first))
        var size = 0
        for (place in first until last) {
            for (unit in Character.toChars(text.codePoint(place))) {
                places[size] = place
                units[size++] = unit
            }
        }
        return size
    }

    private fun search(size: Int) {
        from.fill(NONE, 1, size + 1)
        best[0] = 0.0
        var start = 0
        while (start < size) {
            val next = if (start + 1 < size && places[start + 1] == places[start]) start + 2 else start + 1
            var hash = table.seed(true)
            var isKnown = false
            for (end in start + 1..minOf(size, start + table.longest)) {
                hash = table.next(hash, units[end - 1])
                val id = table.find(hash, units, start, end, true)
                if (id < 0) continue
                isKnown = isKnown || end == next
                offer(start, end, id, pieces.scores[id])
            }
            if (!isKnown) offer(start, next, unkId, pieces.unknownScore)
            start = next
        }
    }

    /** Takes a piece from one place to another if the segmentation that ends with it is the best one. */
    private fun offer(start: Int, end: Int, id: Int, score: Double) {
        val total = score + best[start]
        if (from[end] != NONE && total <= best[end]) return
        best[end] = total
        from[end] = start
        ids[end] = id
    }

    /** The first units of the tokens, the last token first. */
    private fun firsts(size: Int): List<Int> {
        val firsts = ArrayList<Int>()
        var wasUnknown = false
        var end = size
        while (end > 0) {
            val isUnknown = ids[end] == unkId
            if (isUnknown && wasUnknown) firsts[firsts.size - 1] = from[end] else firsts += from[end]
            wasUnknown = isUnknown
            end = from[end]
        }
        return firsts
    }

    private fun idOf(start: Int, end: Int): Int {
        var hash = table.seed(true)
        for (place in start until end) hash = table.next(hash, units[place])
        val id = table.find(hash, units, start, end, true)
        return if (id < 0) unkId else id
    }

    private fun grow(size: Int) {
        units = CharArray(size)
        places = IntArray(size)
        best = DoubleArray(size + 1)
        from = IntArray(size + 1)
        ids = IntArray(size + 1)
    }
}
