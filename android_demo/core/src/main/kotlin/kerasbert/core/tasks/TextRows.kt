package kerasbert.core.tasks

import kerasbert.core.model.Outputs
import kerasbert.core.model.Row
import kerasbert.core.model.TextModel
import kerasbert.core.text.Encoded
import kerasbert.core.text.encode

/** Cuts a text or a pair to the model's length, and runs it. */
internal fun TextModel.runText(text: String, pair: String?): Pair<Outputs, Boolean> {
    val encoded = tokenizer.encode(text, pair, length)
    return run(encoded.row()) to encoded.truncated
}

internal fun Encoded.row() = Row(ids, typeIds)

/** The text, and the second text of a pair. */
internal fun Task.textsOf(example: Example): Pair<String, String?> = when (example) {
    is Example.Single -> example.text to null
    is Example.Pair -> example.text to example.pair
    else -> throw unexpected("a text or a pair of texts", example)
}

internal fun exampleOf(text: String, pair: String?): Example = if (pair == null) Example.Single(text) else Example.Pair(text, pair)

/** The number of the largest value, the first of equals. A NaN counts as the largest one, as in NumPy. */
internal fun argMax(values: FloatArray): Int {
    var best = 0
    for (index in values.indices) {
        if (values[best].isNaN()) return best
        if (values[index] > values[best] || values[index].isNaN()) best = index
    }
    return best
}

/** Probabilities of logits, in float32. */
internal fun softmax(logits: FloatArray): FloatArray {
    var largest = Float.NEGATIVE_INFINITY
    for (logit in logits) largest = Math.max(largest, logit)
    val exponentials = FloatArray(logits.size) { Math.exp((logits[it] - largest).toDouble()).toFloat() }
    var sum = 0.0
    for (value in exponentials) sum += value
    val total = sum.toFloat()
    return FloatArray(logits.size) { exponentials[it] / total }
}
