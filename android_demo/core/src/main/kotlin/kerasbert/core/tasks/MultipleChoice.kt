package kerasbert.core.tasks

import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.core.model.TextModel

/**
 * The choice of a prompt.
 *
 * @property choice the number of the likeliest choice, from 0 on.
 * @property text its text.
 * @property probabilities of all choices.
 */
class ChoicePrediction(example: Example, isCut: Boolean, val choice: Int, val text: String, val probabilities: FloatArray) :
    Prediction(example, isCut) {
    override fun fields() =
        mapOf("choice" to choice, "text" to text, "probabilities" to probabilities.map { it.toDouble() })
}

/** One choice among those of a prompt. Each is a row `[CLS] prompt [SEP] choice [SEP]` (Devlin et al. 2018, section 4.4). */
class MultipleChoice(model: TextModel) : Task(model, TaskType.MULTIPLE_CHOICE) {
    override fun predict(example: Example): ChoicePrediction {
        if (example !is Example.Prompt) throw unexpected("a prompt with choices", example)
        return choose(example.prompt, example.choices)
    }

    /** Chooses among at least one choice. */
    fun choose(prompt: String, choices: List<String>): ChoicePrediction {
        if (choices.isEmpty()) throw KerasBertException("expected a prompt with choices, received none for '${prompt.take(40)}'; add them")
        val runs = choices.map { model.runText(prompt, it) }
        val probabilities = softmax(FloatArray(runs.size) { runs[it].first["logits"][0] })
        val best = argMax(probabilities)
        val isCut = runs.any { it.second }
        return ChoicePrediction(Example.Prompt(prompt, choices), isCut, best, choices[best], probabilities)
    }
}
