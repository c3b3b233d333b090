package kerasbert.core.tasks

import kerasbert.core.file.TaskType
import kerasbert.core.model.TextModel

/**
 * A number for a text or a pair.
 *
 * @property score the number, on the scale of the labels of training.
 */
class ScorePrediction(example: Example, isCut: Boolean, val score: Float) : Prediction(example, isCut) {
    override fun fields() = mapOf("score" to score.toDouble())
}

/** A number a text, or a pair of texts. */
class Regression(model: TextModel) : Task(model, TaskType.REGRESSION) {
    override fun predict(example: Example): ScorePrediction = textsOf(example).let { (text, pair) -> score(text, pair) }

    /** Scores a text or a pair. */
    fun score(text: String, pair: String? = null): ScorePrediction {
        val (outputs, isCut) = model.runText(text, pair)
        return ScorePrediction(exampleOf(text, pair), isCut, outputs["score"][0])
    }
}
