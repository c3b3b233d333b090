package kerasbert.core.tasks

import kerasbert.core.file.TaskType
import kerasbert.core.model.TextModel

private const val YES = 0.5f

/**
 * The classes of a text or a pair, any number of them.
 *
 * @property labels the classes of a probability of at least 0.5.
 * @property classes all classes in the order of the outputs.
 */
class LabelSetPrediction(example: Example, isCut: Boolean, val labels: List<String>, val classes: List<ClassProbability>) :
    Prediction(example, isCut) {
    override fun fields() = mapOf("labels" to labels, "probabilities" to probabilityFields(classes))
}

/** Any number of classes a text, or a pair of texts. */
class LabelSetClassification(model: TextModel) : Task(model, TaskType.MULTI_LABEL) {
    override fun predict(example: Example): LabelSetPrediction = textsOf(example).let { (text, pair) -> classify(text, pair) }

    /** Classifies a text or a pair. */
    fun classify(text: String, pair: String? = null): LabelSetPrediction {
        val (outputs, isCut) = model.runText(text, pair)
        val probabilities = outputs["probabilities"]
        val classes = classNames(probabilities.size).mapIndexed { number, name -> ClassProbability(name, probabilities[number]) }
        val labels = classes.filter { it.probability >= YES }.map { it.name }
        return LabelSetPrediction(exampleOf(text, pair), isCut, labels, classes).after(outputs.layers)
    }
}
