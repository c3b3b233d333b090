package kerasbert.core.model

/**
 * The tokens of one run of a model, special tokens included, without padding.
 *
 * @property ids the token ids.
 * @property types 0 for the tokens of the first text, and the tokenizer's second type for those of the second one.
 */
class Row(val ids: IntArray, val types: IntArray) {
    init {
        require(ids.size == types.size) { "expected a type for each of ${ids.size} tokens, received ${types.size}" }
    }

    /** The number of tokens. */
    val size: Int get() = ids.size
}

/**
 * The outputs of one run.
 *
 * @property length tokens of the run, padding included.
 * @property layers the layers that ran; null for a file without exits.
 */
class Outputs(private val values: Map<String, FloatArray>, val length: Int, val layers: Int? = null) {
    /** The values of an output of the whole row. */
    operator fun get(name: String): FloatArray = values.getValue(name)

    /** The values of an output at one token. */
    fun at(name: String, token: Int): FloatArray {
        val all = values.getValue(name)
        val width = all.size / length
        return all.copyOfRange(token * width, (token + 1) * width)
    }
}
