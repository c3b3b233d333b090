package kerasbert.core.tasks

import kerasbert.core.file.TaskType
import kerasbert.core.model.TextModel

/**
 * The vector of a text.
 *
 * @property vector the vector, as the model returns it.
 */
class VectorPrediction(example: Example, isCut: Boolean, val vector: FloatArray) : Prediction(example, isCut) {
    override fun fields() = mapOf("vector" to vector)
}

/**
 * The similarity of a pair of texts.
 *
 * @property cosine from -1 to 1.
 * @property vectors the vectors of both texts.
 */
class SimilarityPrediction(example: Example, isCut: Boolean, val cosine: Double, val vectors: List<FloatArray>) :
    Prediction(example, isCut) {
    override fun fields() = mapOf("cosine" to cosine, "vectors" to vectors)
}

/** A vector a text. Each text of a pair has its own. Before each text stands the prompt of the model, if it has one. */
class SentenceEncoding(model: TextModel) : Task(model, TaskType.EMBEDDING) {
    private val prompts = Prompts.of(model.file.metadata)

    /** The name of the vectors of [encodeDocument]. Those of another name cannot be searched with this model. */
    val vectorsName: String get() = Prompts.vectorsName(model.file.metadata)

    override fun predict(example: Example): Prediction {
        val (text, pair) = textsOf(example)
        return if (pair == null) encode(text) else compare(text, pair)
    }

    /** Encodes a text. */
    fun encode(text: String): VectorPrediction = encode(text, prompts.default)

    /** Encodes the query of a search. */
    fun encodeQuery(text: String): VectorPrediction = encode(text, prompts.query)

    /** Encodes a text that is searched. */
    fun encodeDocument(text: String): VectorPrediction = encode(text, prompts.document)

    private fun encode(text: String, prompt: String): VectorPrediction {
        val (outputs, isCut) = model.runText(prompt + text, null)
        return VectorPrediction(Example.Single(text), isCut, outputs["embedding"])
    }

    /** Compares two texts. */
    fun compare(text: String, pair: String): SimilarityPrediction {
        val (first, second) = encode(text) to encode(pair)
        val vectors = listOf(first.vector, second.vector)
        return SimilarityPrediction(Example.Pair(text, pair), first.isCut || second.isCut, cosine(vectors[0], vectors[1]), vectors)
    }
}

/** The cosine of two vectors; 1 for two zero vectors, and 0 for one zero vector. */
internal fun cosine(first: FloatArray, second: FloatArray): Double {
    val (one, other) = unit(first) to unit(second)
    if (one.all { it == 0.0 } && other.all { it == 0.0 }) return 1.0
    var sum = 0.0
    for (index in one.indices) sum += one[index] * other[index]
    return if (sum.isNaN()) sum else Math.max(-1.0, Math.min(1.0, sum))
}

/** A vector of norm 1. It is first divided by its largest number, as squares may be too large or too small for a number. */
private fun unit(vector: FloatArray): DoubleArray {
    var largest = 0.0
    for (value in vector) largest = Math.max(largest, Math.abs(value.toDouble()))
    if (largest == 0.0) return DoubleArray(vector.size)
    val scaled = DoubleArray(vector.size) { vector[it] / largest }
    var squares = 0.0
    for (value in scaled) squares += value * value
    val norm = Math.sqrt(squares)
    return DoubleArray(vector.size) { scaled[it] / norm }
}
