package kerasbert.core.tasks

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

/** One class a text, or a pair of texts. */
class Classification(model: TextModel) : Task(model, TaskType.SINGLE_LABEL) {
    override fun predict(example: Example): ClassPrediction = textsOf(example).let { (text, pair) -> classify(text, pair) }

    /** Classifies a text or a pair. */
    fun classify(text: String, pair: String? = null): ClassPrediction {
        val (outputs, isCut) = model.runText(text, pair)
        val probabilities = outputs["probabilities"]
        val classes = classNames(probabilities.size).mapIndexed { number, name -> ClassProbability(name, probabilities[number]) }
        val best = classes[argMax(probabilities)]
        return ClassPrediction(exampleOf(text, pair), isCut, best.name, best.probability, classes).after(outputs.layers)
    }
}
