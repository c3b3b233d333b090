package kerasbert.screens

import kerasbert.core.file.TaskType
import kerasbert.core.search.VectorIndex
import kerasbert.core.tasks.AnswerPrediction
import kerasbert.core.tasks.QuestionAnswering
import kerasbert.core.tasks.SentenceEncoding
import kerasbert.core.tasks.Task

private const val NANOSECONDS = 1e6 // of a millisecond
private const val OTHERS = 3 // answers listed below the best one

/**
 * A part of the text that answers the question.
 *
 * @property start its first UTF-16 unit.
 * @property end the unit after its last one.
 * @property text its text.
 * @property score a probability for an answer, a cosine for a sentence.
 */
data class AnswerSpan(val start: Int, val end: Int, val text: String, val score: Double)

/** What a text answers. */
sealed class TextAnswer {
    /** The parts of the text, best first; empty for no answer. */
    abstract val parts: List<AnswerSpan>

    /** Parts of the text, best first, from a model for answers. */
    data class Spans(override val parts: List<AnswerSpan>) : TextAnswer()

    /** Sentences of the text, the most similar to the question first, from a model for sentence vectors. */
    data class Sentences(override val parts: List<AnswerSpan>) : TextAnswer()

    /** The text does not answer it. */
    object NoAnswer : TextAnswer() {
        override val parts = emptyList<AnswerSpan>()
    }
}

/**
 * An answer with what it is about.
 *
 * @property text the text that was read. The person may have typed on meanwhile.
 * @property parts the windows, or the sentences, that were read.
 * @property milliseconds the time of the answer, tokenization included.
 */
data class Answered(val text: String, val answer: TextAnswer, val parts: Int, val milliseconds: Double)

/**
 * The screen *Ask*.
 *
 * @property text the text.
 * @property question the question about it.
 * @property isRunning whether an answer is on its way.
 * @property done parts of the text that were read, while it runs.
 * @property parts all parts of the text, while it runs.
 * @property answered the newest answer.
 */
data class AskState(
    val model: ModelState = ModelState.None,
    val text: String = "",
    val question: String = "",
    val isRunning: Boolean = false,
    val done: Int = 0,
    val parts: Int = 0,
    val answered: Answered? = null,
    val failure: Failure? = null,
) {
    /** Whether there is something to ask, and a model to ask. */
    val canAsk: Boolean get() = model is ModelState.Ready && text.isNotBlank() && question.isNotBlank()
}

/** Answers a question about a text: with a part of it, or, where only a model for sentence vectors is there, with the most similar sentence. */
class AskPresenter(threads: Threads, models: Models) : ModelPresenter<AskState>(
    AskState(),
    threads,
    models,
    listOf(TaskType.QUESTION_ANSWERING, TaskType.EMBEDDING),
) {
    private val answering = Lane()
    private var vectors: TextVectors? = null // for the background thread

    /** The person changed the text. The answer to the earlier one is dropped. */
    fun writeText(text: String) {
        if (text == state.text) return
        answering.drop()
        show(state.copy(text = text, answered = null, isRunning = false, failure = null))
    }

    /** The person changed the question. */
    fun writeQuestion(question: String) {
        if (question != state.question) show(state.copy(question = question))
    }

    /** Answers the question, if there are a model, a text and a question. */
    fun ask() {
        val model = state.model as? ModelState.Ready ?: return
        if (!state.canAsk) return
        val (text, question) = Pair(state.text, state.question)
        show(state.copy(isRunning = true, done = 0, parts = 0, failure = null))
        run(
            answering,
            FailureKind.ENGINE,
            { answer(task(model), model, question, text, it) },
            { show(state.copy(isRunning = false, answered = it ?: state.answered)) },
            { show(state.copy(isRunning = false, answered = null, failure = it)) },
            { done, parts -> show(state.copy(done = done, parts = parts)) },
        )
    }

    override fun modelOf(state: AskState) = state.model

    override fun withModel(state: AskState, model: ModelState) = state.copy(model = model, failure = null)

    override fun modelReady() {
        show(state.copy(answered = null))
        ask()
    }

    /** Returns the answer; null if newer work has replaced this. */
    private fun answer(task: Task, model: ModelState.Ready, question: String, text: String, progress: Progress): Answered? {
        val start = System.nanoTime()
        val (answer, parts) = when (task) {
            is QuestionAnswering -> task.answer(question, text, progress.report).let { Pair(answerOf(it), it.windows) }
            is SentenceEncoding -> bestSentences(task, model, question, text, progress) ?: return null
            else -> throw FailedException(Failure(FailureKind.OTHER_TASK, model.entry.type.key))
        }
        return Answered(text, answer, parts, (System.nanoTime() - start) / NANOSECONDS)
    }

    private fun answerOf(prediction: AnswerPrediction): TextAnswer {
        if (prediction.answer.start == null) return TextAnswer.NoAnswer
        val spans = prediction.best.mapNotNull { each ->
            each.start?.let { start -> each.end?.let { end -> AnswerSpan(start, end, each.text, each.probability) } }
        }
        return TextAnswer.Spans(spans.take(1 + OTHERS))
    }

    private fun bestSentences(
        task: SentenceEncoding,
        model: ModelState.Ready,
        question: String,
        text: String,
        progress: Progress,
    ): Pair<TextAnswer, Int>? {
        val known = vectors?.takeIf { it.text == text && it.model == model }
            ?: TextVectors.of(text, model, task, progress)?.also { vectors = it }
            ?: return null
        if (known.sentences.isEmpty()) return Pair(TextAnswer.NoAnswer, 0)
        val hits = known.index.search(task.encodeQuery(question).vector, 1 + OTHERS)
        val spans = hits.map { hit ->
            val sentence = known.sentences[hit.index]
            AnswerSpan(sentence.start, sentence.end, text.substring(sentence.start, sentence.end), hit.score.toDouble())
        }
        return Pair(TextAnswer.Sentences(spans), known.sentences.size)
    }
}

/** The vectors of a text's sentences, which serve every question about it. */
private class TextVectors(val text: String, val model: ModelState.Ready, val sentences: List<Sentence>, val index: VectorIndex) {
    companion object {
        /** Encodes the sentences of a text; null if newer work has replaced this. */
        fun of(text: String, model: ModelState.Ready, task: SentenceEncoding, progress: Progress): TextVectors? {
            val sentences = sentencesOf(text)
            var index: VectorIndex? = null
            sentences.forEachIndexed { number, sentence ->
                if (progress.isStale()) return null
                val vector = task.encodeDocument(text.substring(sentence.start, sentence.end)).vector
                val started = index ?: VectorIndex(vector.size).also { index = it }
                started.add(vector)
                progress.report(number + 1, sentences.size)
            }
            return TextVectors(text, model, sentences, index ?: VectorIndex(1))
        }
    }
}
