package kerasbert.screens

import java.nio.ByteBuffer
import kerasbert.core.file.ModelFile
import kerasbert.core.search.TaughtClasses
import kerasbert.core.search.taughtFile
import kerasbert.core.tasks.SentenceEncoding

/**
 * Classifies texts by labels with examples. The vectors of examples are computed once, and the classes are taught when labels change.
 *
 * All members are for the background thread.
 */
internal class TaughtTexts {
    private val vectors = HashMap<String, FloatArray>()
    private var encodedBy: Pair<ModelFile, String>? = null
    private var classes: TaughtClasses? = null
    private var classesOf: List<TaughtLabel> = emptyList()

    /** Returns the labels of a text, the likeliest first. At least two have examples. */
    fun classify(encoder: SentenceEncoding, labels: List<TaughtLabel>, text: String): List<LabelBar> {
        val vector = encoder.encode(text).vector
        return teach(encoder, labels).classify(vector).mapIndexed { place, it -> LabelBar(it.name, it.probability.toFloat(), place == 0) }
    }

    /**
     * Makes a `.tflite` file of labels, of which at least two have examples.
     *
     * @param content the bytes of the encoder's file.
     */
    fun file(encoder: SentenceEncoding, labels: List<TaughtLabel>, content: ByteBuffer): ByteArray =
        taughtFile(content, encoder.model.file.name, teach(encoder, labels))

    private fun teach(encoder: SentenceEncoding, labels: List<TaughtLabel>): TaughtClasses {
        val model = Pair(encoder.model.file, encoder.model.engineTitle)
        if (encodedBy != model) {
            vectors.clear()
            classes = null
        }
        encodedBy = model
        classes?.takeIf { classesOf == labels }?.let { return it }
        val examples = labels.flatMap { label -> label.examples.map { Pair(label.name, it) } }
        val encoded = examples.map { (_, text) -> vectors.getOrPut(text) { encoder.encode(text).vector } }
        val taught = TaughtClasses(encoded.first().size)
        examples.zip(encoded) { (name, text), vector -> taught.add(name, text, vector) }
        classes = taught
        classesOf = labels
        return taught
    }
}
