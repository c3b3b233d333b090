package kerasbert.core.text

private const val CONTINUATION = "##"
private const val FIRST_SEED = 0
private const val NEXT_SEED = 0x5bd1e995
private const val MULTIPLIER = -0x61c88647 // of Fibonacci hashing

/**
 * The pieces of a vocabulary by their letters: a hash table with open addressing.
 *
 * @param vocabulary the tokens in the order of their ids.
 * @param size ids from this one on are no pieces.
 * @param continuation the mark of a piece inside of a word; null where there is none.
 */
internal class PieceTable(private val vocabulary: List<String>, size: Int, private val continuation: String? = CONTINUATION) {
    private val bits = maxOf(4, 33 - Integer.numberOfLeadingZeros(size))
    private val ids = IntArray(1 shl bits) { -1 }
    private val hashes = IntArray(1 shl bits)

    /** The length of the longest piece in UTF-16 units, `##` left out. */
    val longest: Int

    init {
        var longest = 0
        for (id in 0 until size) {
            val token = vocabulary[id]
            val skipped = skippedOf(token)
            longest = maxOf(longest, token.length - skipped)
            if (token.isNotEmpty()) put(id, token, skipped)
        }
        this.longest = longest
    }

    /** The hash of no letters, at the start of a word or behind one of its pieces. */
    fun seed(isFirst: Boolean): Int = if (isFirst) FIRST_SEED else NEXT_SEED

    /** The hash with one more letter. */
    fun next(hash: Int, letter: Char): Int = hash * 31 + letter.code

    /** The id of the piece with [letters] from [from] to [to], or -1. */
    fun find(hash: Int, letters: CharArray, from: Int, to: Int, isFirst: Boolean): Int {
        var slot = slot(hash)
        while (ids[slot] >= 0) {
            if (hashes[slot] == hash && equals(ids[slot], letters, from, to, isFirst)) return ids[slot]
            slot = (slot + 1) and ids.size - 1
        }
        return -1
    }

    private fun put(id: Int, token: String, skipped: Int) {
        var hash = seed(skipped == 0)
        for (place in skipped until token.length) hash = next(hash, token[place])
        var slot = slot(hash)
        while (ids[slot] >= 0) slot = (slot + 1) and ids.size - 1
        ids[slot] = id
        hashes[slot] = hash
    }

    private fun equals(id: Int, letters: CharArray, from: Int, to: Int, isFirst: Boolean): Boolean {
        val token = vocabulary[id]
        val skipped = skippedOf(token)
        if (isFirst != (skipped == 0) || token.length - skipped != to - from) return false
        for (place in from until to) if (token[skipped + place - from] != letters[place]) return false
        return true
    }

    private fun slot(hash: Int): Int = hash * MULTIPLIER ushr (32 - bits)

    // A word that starts with "##" does not exist: "#" is punctuation, and a word of its own.
    private fun skippedOf(token: String): Int =
        if (continuation != null && token.length > continuation.length && token.startsWith(continuation)) continuation.length else 0
}
