package kerasbert.screens

import kerasbert.core.file.TaskType
import kerasbert.core.tasks.ClassPrediction
import kerasbert.core.tasks.ClassProbability
import kerasbert.core.tasks.Example
import kerasbert.core.tasks.LabelSetPrediction
import kerasbert.core.tasks.Prediction
import kerasbert.core.tasks.ScorePrediction
import kerasbert.core.tasks.TagPrediction
import kerasbert.core.tasks.Task
import kerasbert.core.text.encode

private const val NANOSECONDS = 1e6 // of a millisecond
private const val SHOWN_TOKENS = 512 // of a text; a model reads no more in one window

/**
 * A label with a bar.
 *
 * @property name the label.
 * @property probability from 0 to 1.
 * @property isChosen whether it is the model's choice, or one of them.
 */
data class LabelBar(val name: String, val probability: Float, val isChosen: Boolean)

/**
 * A part of a text that is highlighted.
 *
 * @property start the first UTF-16 unit.
 * @property end the unit after the last one.
 * @property label the label.
 * @property probability from 0 to 1.
 * @property color the number of the label among those of the model, for its color.
 */
data class Highlight(val start: Int, val end: Int, val label: String, val probability: Float, val color: Int)

/** What a model says about a text. */
sealed class TextResult {
    /** Labels, the likeliest first. */
    data class Labels(val bars: List<LabelBar>) : TextResult()

    /** A number. */
    data class Score(val value: Float) : TextResult()

    /** Entities, or tagged words, in the order of the text. */
    data class Highlights(val highlights: List<Highlight>) : TextResult()
}

/**
 * A result with what it is about.
 *
 * @property text the text that was read. The person may have typed on meanwhile.
 * @property tokens tokens of the text, special ones included.
 * @property milliseconds the time of the prediction, tokenization included.
 * @property readTokens the tokens that the model read, where it cut the text; null if it read all.
 */
data class Classified(
    val text: String,
    val result: TextResult,
    val tokens: Int,
    val milliseconds: Double,
    val readTokens: Int?,
)

/**
 * The screen *Classify & tag*.
 *
 * @property text what the person typed.
 * @property isRunning whether a newer result is on its way.
 * @property classified the newest result; null before the first text.
 * @property tokens the tokens of the text, null where they are not shown.
 */
data class ClassifyState(
    val model: ModelState = ModelState.None,
    val text: String = "",
    val isRunning: Boolean = false,
    val classified: Classified? = null,
    val tokens: List<String>? = null,
    val failure: Failure? = null,
)

/** Predicts labels, a score or entities while a person types. */
class ClassifyPresenter(threads: Threads, models: Models) : ModelPresenter<ClassifyState>(
    ClassifyState(),
    threads,
    models,
    listOf(TaskType.SINGLE_LABEL, TaskType.FEW_SHOT, TaskType.MULTI_LABEL, TaskType.TAGGING, TaskType.REGRESSION),
) {
    private val predicting = Lane()
    private var showsTokens = false

    /** The person typed. */
    fun write(text: String) {
        if (text == state.text) return
        show(state.copy(text = text))
        predict()
    }

    /** Shows or hides the tokens. */
    fun showTokens(shows: Boolean) {
        if (shows == showsTokens) return
        showsTokens = shows
        if (shows) predict() else show(state.copy(tokens = null))
    }

    override fun modelOf(state: ClassifyState) = state.model

    override fun withModel(state: ClassifyState, model: ModelState) = state.copy(model = model, failure = null)

    override fun modelReady() {
        show(state.copy(classified = null, tokens = null))
        predict()
    }

    private fun predict() {
        val model = state.model as? ModelState.Ready ?: return
        val text = state.text
        if (text.isBlank()) {
            predicting.drop()
            show(state.copy(isRunning = false, classified = null, tokens = null, failure = null))
            return
        }
        show(state.copy(isRunning = true))
        val withTokens = showsTokens
        run(
            predicting,
            FailureKind.ENGINE,
            { Pair(classify(task(model), text), if (withTokens) tokensOf(task(model), text) else null) },
            { (classified, tokens) ->
                show(state.copy(isRunning = false, classified = classified, tokens = tokens, failure = null))
            },
            { show(state.copy(isRunning = false, classified = null, tokens = null, failure = it)) },
        )
    }

    private fun classify(task: Task, text: String): Classified {
        val start = System.nanoTime()
        val prediction = task.predict(Example.Single(text))
        val milliseconds = (System.nanoTime() - start) / NANOSECONDS
        val tokens = task.model.tokenizer.tokens(text).size + 2
        val read = if (prediction.isCut) task.model.length else null
        return Classified(text, resultOf(prediction, task.labels.orEmpty()), tokens, milliseconds, read)
    }

    private fun tokensOf(task: Task, text: String): List<String> {
        val tokenizer = task.model.tokenizer
        return tokenizer.encode(text, maxLength = SHOWN_TOKENS).ids.map { tokenizer.vocabulary[it] }
    }
}

/** The classes, and first the label of a text that belongs to none of them, with the probability that was too low. */
private fun withFallback(prediction: ClassPrediction): List<ClassProbability> =
    if (prediction.classes.any { it.name == prediction.label }) prediction.classes
    else listOf(ClassProbability(prediction.label, prediction.score)) + prediction.classes

private fun resultOf(prediction: Prediction, labels: List<String>): TextResult = when (prediction) {
    is ClassPrediction -> TextResult.Labels(
        withFallback(prediction).map { LabelBar(it.name, it.probability, it.name == prediction.label) }
            .sortedByDescending { it.probability },
    )
    is LabelSetPrediction -> TextResult.Labels(
        prediction.classes.map { LabelBar(it.name, it.probability, it.name in prediction.labels) }
            .sortedByDescending { it.probability },
    )
    is ScorePrediction -> TextResult.Score(prediction.score)
    is TagPrediction -> TextResult.Highlights(highlightsOf(prediction, labels))
    else -> throw FailedException(Failure(FailureKind.OTHER_TASK))
}
