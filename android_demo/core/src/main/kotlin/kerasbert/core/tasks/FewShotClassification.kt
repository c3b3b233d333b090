package kerasbert.core.tasks

import java.nio.ByteBuffer
import java.nio.ByteOrder
import kerasbert.core.KerasBertException
import kerasbert.core.file.Base64Bytes
import kerasbert.core.file.TaskType
import kerasbert.core.model.TextModel

private const val SMALLEST_NORM = 1e-12

/**
 * One class a text, by a linear layer on the vector of a sentence encoder: what `kerasbert teach` writes.
 *
 * The layer stands in the metadata, as base64 of little-endian float32 `(classes, width + 1)`, the bias last.
 */
class FewShotClassification(model: TextModel) : Task(model, TaskType.FEW_SHOT) {
    private val settings = model.file.metadata.settings
    private val prompt = settings["prompt"] as? String ?: ""
    private val fallback = Fallback.of(model.file)
    private val layer: FloatArray

    init {
        val names = labels ?: emptyList()
        if (names.size < 2) throw damaged("two labels or more", "${names.size}")
        layer = decoded(settings["layer"] as? String ?: "", names.size, (settings["width"] as? Long ?: 1).toInt())
    }

    override fun predict(example: Example): ClassPrediction {
        if (example is Example.Single) return classify(example.text)
        throw unexpected("a text", example)
    }

    /** Classifies a text. */
    fun classify(text: String): ClassPrediction {
        val (outputs, isCut) = model.runText(prompt + text, null)
        val probabilities = probabilities(outputs["embedding"])
        val classes = classNames(probabilities.size).mapIndexed { number, name -> ClassProbability(name, probabilities[number]) }
        val best = classes[argMax(probabilities)]
        return ClassPrediction(exampleOf(text, null), isCut, fallback.labelOf(best), best.probability, classes)
    }

    /** The softmax of the layer's logits, computed in double precision as Python does. */
    private fun probabilities(vector: FloatArray): FloatArray {
        val width = vector.size
        val norm = Math.sqrt(vector.sumOf { it.toDouble() * it }).coerceAtLeast(SMALLEST_NORM)
        val logits = DoubleArray(layer.size / (width + 1)) { number ->
            val start = number * (width + 1)
            vector.indices.sumOf { vector[it] / norm * layer[start + it] } + layer[start + width]
        }
        val largest = logits.max()
        val shares = DoubleArray(logits.size) { Math.exp(logits[it] - largest) }
        val total = shares.sum()
        return FloatArray(shares.size) { (shares[it] / total).toFloat() }
    }

    private fun decoded(text: String, classes: Int, width: Int): FloatArray {
        val expected = "the layer of $classes classes and vectors of $width numbers in base64"
        val bytes = Base64Bytes.decode(text) ?: throw damaged(expected, "another text")
        if (bytes.size.toLong() != 4L * classes * (width + 1)) throw damaged(expected, "${bytes.size} bytes")
        val numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()
        val layer = FloatArray(numbers.remaining()).also { numbers.get(it) }
        if (!layer.all { it.isFinite() }) throw damaged("a layer of finite numbers", "others")
        return layer
    }

    private fun damaged(expected: String, received: String) =
        KerasBertException("expected $expected in ${model.file.name}, received $received; teach the model again")
}
