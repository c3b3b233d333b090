package kerasbert.core.tasks

import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.core.model.Row
import kerasbert.core.model.TextModel
import kerasbert.core.text.CodePoints
import kerasbert.core.text.defaultStride
import kerasbert.core.text.windows

private const val LONGEST_QUESTION = 64 // tokens, as in the BERT authors' own code
private const val LONGEST_ANSWER = 30 // tokens by default
private const val BEST = 20 // answers that a prediction lists by default

/**
 * A part of a text that may answer a question.
 *
 * @property text its text; "" for no answer.
 * @property start its first UTF-16 unit in the context; null for no answer.
 * @property end the unit after its last one; null for no answer.
 * @property score the sum of both logits.
 * @property probability among the answers that the prediction lists.
 */
data class Answer(val text: String, val start: Int?, val end: Int?, val score: Double, val probability: Double = 0.0) {
    internal fun fields(places: CodePoints): Map<String, Any?> = mapOf(
        "answer" to text, "start" to start?.let(places::ofUnit), "end" to end?.let(places::ofUnit), "score" to score,
        "probability" to probability,
    )
}

/**
 * The answer to a question.
 *
 * @property answer the answer, which may be none.
 * @property noAnswerScore the score of no answer.
 * @property best the best answers, best first; no answer is among them if the model was trained on questions without one.
 * @property windows the windows in which the context was read.
 */
class AnswerPrediction internal constructor(
    example: Example.Question,
    isCut: Boolean,
    val answer: Answer,
    val noAnswerScore: Double,
    val best: List<Answer>,
    val windows: Int,
) : Prediction(example, isCut) {
    private val context = example.context

    override fun fields(): Map<String, Any?> {
        val places = CodePoints(context)
        return answer.fields(places) + mapOf("no_answer_score" to noAnswerScore, "best" to best.map { it.fields(places) })
    }
}

/** The part of a text that answers a question. A long text is read in overlapping windows. */
class QuestionAnswering(model: TextModel) : Task(model, TaskType.QUESTION_ANSWERING) {
    private val tokenizer = model.tokenizer
    private val settings = model.file.metadata.settings
    private val stride = count("stride")
    private val longest = count("longest_answer") ?: LONGEST_ANSWER
    private val listed = count("n_best") ?: BEST
    private val mayHaveNone = settings["no_answer"] as? Boolean ?: false
    private val threshold = (settings["no_answer_threshold"] as? Number)?.toDouble() ?: 0.0

    override fun predict(example: Example): AnswerPrediction {
        if (example !is Example.Question) throw unexpected("a question with a context", example)
        return answer(example.question, example.context)
    }

    /**
     * Answers a question. A question of more than 64 tokens, or of half a row, is cut.
     *
     * @param report called with the windows done and all windows.
     */
    fun answer(question: String, context: String, report: (Int, Int) -> Unit = { _, _ -> }): AnswerPrediction {
        val questionIds = tokenizer.tokens(question).ids
        val limit = longestQuestion()
        val rows = windowsOf(questionIds.copyOf(minOf(questionIds.size, limit)), ContextTokens.of(context, tokenizer))
        val search = SpanSearch(longest, listed)
        rows.forEachIndexed { number, window ->
            val outputs = model.run(window.row)
            search.add(window, outputs["start_logits"], outputs["end_logits"])
            report(number + 1, rows.size)
        }
        return prediction(Example.Question(question, context), questionIds.size > limit, search, rows.size)
    }

    private fun longestQuestion(): Int {
        val special = tokenizer.specialTokens(true)
        val space = model.length - special
        if (space < 2) {
            throw KerasBertException(
                "expected rows of at least ${special + 2} tokens for a question and a text, received ${model.length}; convert the " +
                    "model with a longer one",
            )
        }
        return minOf(LONGEST_QUESTION, space / 2)
    }

    private fun windowsOf(question: IntArray, context: ContextTokens): List<SpanWindow> {
        val head = intArrayOf(tokenizer.clsId) + question + IntArray(tokenizer.separators) { tokenizer.sepId }
        val room = model.length - head.size - 1
        val step = stride?.let { minOf(it, room) } ?: defaultStride(model.length, room)
        return windows(context.ids.size, room, step).map { window ->
            val ids = head + context.ids.copyOfRange(window.start, window.end) + tokenizer.sepId
            SpanWindow(context, window, head.size, Row(ids, IntArray(ids.size) { if (it < head.size) 0 else tokenizer.secondType }))
        }
    }

    private fun prediction(example: Example.Question, isCut: Boolean, search: SpanSearch, windows: Int): AnswerPrediction {
        val spans = search.best()
        val answers = spans.map { Answer(example.context.substring(it.start, it.end), it.start, it.end, it.score) }
        val none = Answer("", null, null, search.noAnswerScore)
        val isUnanswered = answers.isEmpty() || (mayHaveNone && none.score - answers[0].score > threshold)
        val listed = if (mayHaveNone || answers.isEmpty()) (answers + none).sortedByDescending { it.score } else answers
        val exponentials = listed.map { Math.exp(it.score - listed[0].score) }
        val best = listed.mapIndexed { number, each -> each.copy(probability = exponentials[number] / exponentials.sum()) }
        val chosen = if (isUnanswered) best.first { it.start == null } else best.first { it.start != null }
        return AnswerPrediction(example, isCut, chosen, none.score, best, windows)
    }

    private fun count(name: String): Int? = (settings[name] as? Long)?.toInt()
}
