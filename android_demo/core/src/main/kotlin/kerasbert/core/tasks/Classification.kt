package kerasbert.core.tasks

import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.core.file.TaskType
import kerasbert.core.model.TextModel

/**
 * A class with its probability.
 *
 * @property name the label.
 * @property probability from 0 to 1.
 */
data class ClassProbability(val name: String, val probability: Float)

internal fun probabilityFields(classes: List<ClassProbability>) = classes.associate { it.name to it.probability.toDouble() }

/**
 * The class of a text or a pair.
 *
 * @property label the likeliest class.
 * @property score its probability.
 * @property classes all classes in the order of the outputs.
 */
class ClassPrediction(example: Example, isCut: Boolean, val label: String, val score: Float, val classes: List<ClassProbability>) :
    Prediction(example, isCut) {
    override fun fields() =
        mapOf("label" to label, "score" to score.toDouble(), "probabilities" to probabilityFields(classes))
}

/**
 * The label of texts that belong to none of the classes.
 *
 * @property label the label, empty without.
 * @property below the probability below which a text gets it.
 */
internal class Fallback private constructor(private val label: String, private val below: Double) {
    /** The label of a text whose best class is [best]. */
    fun labelOf(best: ClassProbability): String = if (best.probability < below) label else best.name

    companion object {
        /**
         * The fallback of a file.
         *
         * @throws KerasBertException when it is a label too, or the probability is out of range.
         */
        fun of(file: ModelFile): Fallback {
            val settings = file.metadata.settings
            val label = settings["fallback"] as? String ?: ""
            val below = (settings["fallback_below"] as? Number)?.toDouble() ?: 0.0
            if (label.isNotEmpty() && label in (file.metadata.labels ?: emptyList())) {
                throw damaged(file, "a fallback of another name than the labels", "'${label.take(60)}'")
            }
            if (below !in 0.0..1.0 || (below > 0 && label.isEmpty())) {
                throw damaged(file, "fallback_below from 0 to 1, with a fallback", "$below and '${label.take(60)}'")
            }
            return Fallback(label, below)
        }

        private fun damaged(file: ModelFile, expected: String, received: String) =
            KerasBertException("expected $expected in ${file.name}, received $received; make the file again")
    }
}

/** One class a text, or a pair of texts. */
class Classification(model: TextModel) : Task(model, TaskType.SINGLE_LABEL) {
    private val fallback = Fallback.of(model.file)

    override fun predict(example: Example): ClassPrediction = textsOf(example).let { (text, pair) -> classify(text, pair) }

    /** Classifies a text or a pair. */
    fun classify(text: String, pair: String? = null): ClassPrediction {
        val (outputs, isCut) = model.runText(text, pair)
        val probabilities = outputs["probabilities"]
        val classes = classNames(probabilities.size).mapIndexed { number, name -> ClassProbability(name, probabilities[number]) }
        val best = classes[argMax(probabilities)]
        return ClassPrediction(exampleOf(text, pair), isCut, fallback.labelOf(best), best.probability, classes).after(outputs.layers)
    }
}
