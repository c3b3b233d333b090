package kerasbert.core.search

import kerasbert.core.KerasBertException

/**
 * A text that was found.
 *
 * @property index its number among the texts.
 * @property text the text.
 * @property score its cosine with the query.
 */
data class Match(val index: Int, val text: String, val score: Float)

/**
 * Texts with their vectors, to be searched by meaning.
 *
 * @property model the fingerprint of the model that made the vectors; those of another model cannot be compared with them.
 */
class SentenceSearch internal constructor(val model: String, internal val index: VectorIndex, texts: List<String>) {
    private val entries = ArrayList(texts)

    /** No texts yet. */
    constructor(model: String, dimensions: Int) : this(model, VectorIndex(dimensions), emptyList())

    /** The texts in their order. */
    val texts: List<String> get() = entries

    /** The number of texts. */
    val size: Int get() = entries.size

    /** The numbers in a vector. */
    val dimensions: Int get() = index.dimensions

    /** Bytes of memory that the vectors take. */
    val vectorBytes: Long get() = index.bytes

    /** Adds a text with its vector at the end. */
    fun add(text: String, vector: FloatArray) {
        index.add(vector)
        entries.add(text)
    }

    internal fun addStored(text: String, vector: Int8Vector) {
        index.add(vector)
        entries.add(text)
    }

    /** Removes a text. The numbers of those behind it become smaller by one. */
    fun removeAt(number: Int) {
        index.removeAt(number)
        entries.removeAt(number)
    }

    /** Finds the texts with the largest cosines with a query, best first; of equal ones the first ones. */
    fun search(query: FloatArray, top: Int): List<Match> = index.search(query, top).map { Match(it.index, entries[it.index], it.score) }

    companion object {
        /**
         * Encodes texts.
         *
         * @param model the fingerprint of the model.
         * @param texts at least one text.
         * @param encode returns the vector of a text.
         * @param report called with the texts done and all texts; false stops.
         * @return the texts, or null if they were stopped.
         */
        fun build(
            model: String,
            texts: List<String>,
            encode: (String) -> FloatArray,
            report: (Int, Int) -> Boolean = { _, _ -> true },
        ): SentenceSearch? {
            if (texts.isEmpty()) throw KerasBertException("expected at least one text to search, received none; choose another file")
            var search: SentenceSearch? = null
            texts.forEachIndexed { number, text ->
                val vector = encode(text)
                val started = search ?: SentenceSearch(model, vector.size).also {
                    it.index.reserve(texts.size)
                    search = it
                }
                started.add(text, vector)
                if (!report(number + 1, texts.size)) return null
            }
            return search
        }
    }
}
