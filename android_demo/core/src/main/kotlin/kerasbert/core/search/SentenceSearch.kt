package kerasbert.core.search

import kerasbert.core.KerasBertException

/**
 * A text that was found.
 *
 * @property index its number among the texts.
 * @property text the text.
 * @property score its cosine with the query.
 * @property document the name of its document.
 * @property start the character of its document at which it starts, in Unicode code points.
 */
data class Match(val index: Int, val text: String, val score: Float, val document: String = "", val start: Int = 0)

/**
 * A document, of which a text is a part or the whole.
 *
 * @property name its name.
 * @property checksum the CRC-32 of its whole text.
 */
internal class Document(val name: String, val checksum: Int)

/** A text that is searched, and where it starts in its document. */
internal class Entry(val text: String, val document: Document, val start: Int)

/**
 * What the vectors of an index are.
 *
 * @property model the name of the model's vectors; those of another model cannot be compared with them.
 * @property modelDimensions the numbers in a vector of the model.
 * @property dimensions the numbers in a vector that is kept; fewer need a projection.
 * @property form how vectors are kept.
 * @property openedAs the name under which Python opens the model, "" if unknown.
 * @property chunk the most tokens of a text, 0 for whole texts.
 * @property overlap the tokens with which a text repeats the one before it, at most.
 */
internal data class IndexInfo(
    val model: String,
    val modelDimensions: Int,
    val dimensions: Int = modelDimensions,
    val form: VectorForm = VectorForm.INT8,
    val openedAs: String = "",
    val chunk: Int = 0,
    val overlap: Int = 0,
)

/**
 * Texts with their vectors, to be searched by meaning.
 */
class SentenceSearch internal constructor(internal val info: IndexInfo, internal val projection: FloatArray?) {
    private val entries = ArrayList<Entry>()
    private val documents = HashMap<String, Document>()
    internal val index = VectorIndex(info.dimensions)

    /** No texts yet. */
    constructor(model: String, dimensions: Int) : this(IndexInfo(model, dimensions), null)

    /** The name of the model's vectors; those of another model cannot be compared with them. */
    val model: String get() = info.model

    /** The texts in their order. */
    val texts: List<String> get() = entries.map(Entry::text)

    /** The number of texts. */
    val size: Int get() = entries.size

    /** The numbers in a vector that is kept. */
    val dimensions: Int get() = index.dimensions

    /** Bytes of memory that the vectors take. */
    val vectorBytes: Long get() = index.bytes

    /** Adds a text with the model's vector at the end. It is a document of its own, whose name is a number. */
    fun add(text: String, vector: FloatArray) {
        index.add(projected(vector), info.form)
        var number = documents.size
        while (number.toString() in documents) number++
        entries.add(Entry(text, document(number.toString(), IndexFile.checksum(text.toByteArray())), 0))
    }

    internal fun addStored(entry: Entry, vector: Int8Vector) {
        index.add(vector)
        entries.add(entry)
    }

    /** The document of a name, which is a new one if there is none. */
    internal fun document(name: String, checksum: Int): Document = documents.getOrPut(name) { Document(name, checksum) }

    internal fun entry(number: Int): Entry = entries[number]

    /** Removes a text. The numbers of those behind it become smaller by one. */
    fun removeAt(number: Int) {
        index.removeAt(number)
        entries.removeAt(number)
    }

    /** Finds the texts with the largest cosines with a query, best first; of equal ones the first ones. */
    fun search(query: FloatArray, top: Int): List<Match> = index.search(projected(query), top).map {
        val entry = entries[it.index]
        Match(it.index, entry.text, it.score, entry.document.name, entry.start)
    }

    /** A vector of the model as it is compared: multiplied by the projection, if there is one. */
    private fun projected(vector: FloatArray): DoubleArray {
        if (projection == null) return doubles(vector)
        if (vector.size != info.modelDimensions) {
            throw KerasBertException(
                "expected a vector of ${info.modelDimensions} dimensions, received ${vector.size}; encode texts with the same model",
            )
        }
        val result = DoubleArray(dimensions)
        for (row in vector.indices) {
            for (column in result.indices) result[column] += vector[row].toDouble() * projection[row * dimensions + column]
        }
        return result
    }

    companion object {
        /**
         * Encodes texts.
         *
         * @param model the name of the model's vectors.
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
