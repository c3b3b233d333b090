package kerasbert.app

import android.text.Editable
import android.text.Spanned
import android.text.style.BackgroundColorSpan
import android.view.View
import android.view.inputmethod.EditorInfo
import android.view.inputmethod.InputMethodManager
import android.widget.Button
import android.widget.EditText
import android.widget.TextView
import kerasbert.screens.AnswerSpan
import kerasbert.screens.Answered
import kerasbert.screens.AskPresenter
import kerasbert.screens.AskState
import kerasbert.screens.ModelState
import kerasbert.screens.TextAnswer

/** *Ask*: a question about a text, whose answer is marked in the text itself. */
class AskScreen(override val root: View, override val presenter: AskPresenter) : Screen {
    private val context = root.context
    private val numbers = context.numbers
    private val status = StatusPart(root)
    private val question = root.child<EditText>(R.id.ask_question)
    private val text = root.child<EditText>(R.id.ask_text)
    private val ask = root.child<Button>(R.id.ask_ask)
    private val result = root.child<View>(R.id.ask_result)
    private val heading = root.child<TextView>(R.id.ask_answer_heading)
    private val answer = root.child<TextView>(R.id.ask_answer)
    private val others = root.child<TextView>(R.id.ask_others)
    private val facts = root.child<TextView>(R.id.ask_facts)
    private var marked: Answered? = null

    override val model: ModelState get() = presenter.state.model

    init {
        text.onText(presenter::writeText)
        question.onText(presenter::writeQuestion)
        ask.setOnClickListener { askNow() }
        question.setOnEditorActionListener { _, action, _ ->
            if (action == EditorInfo.IME_ACTION_GO) askNow()
            action == EditorInfo.IME_ACTION_GO
        }
        root.child<View>(R.id.ask_clear).setOnClickListener {
            text.setText("")
            question.setText("")
        }
        root.child<View>(R.id.ask_example).setOnClickListener { example() }
    }

    override fun attach(changed: () -> Unit) = presenter.observe { state ->
        show(state)
        changed()
    }

    override fun detach() = presenter.observe(null)

    private fun askNow() {
        val keyboard = context.getSystemService(InputMethodManager::class.java)
        keyboard?.hideSoftInputFromWindow(root.windowToken, 0)
        presenter.ask()
    }

    private fun example() {
        text.setText(R.string.ask_example_text)
        question.setText(R.string.ask_example_question)
        askNow()
    }

    private fun show(state: AskState) {
        ask.isEnabled = state.canAsk && !state.isRunning
        val answered = state.answered
        result.isVisible = answered != null || state.isRunning
        if (answered != null) show(answered)
        if (state.isRunning) showProgress(state)
        if (answered !== marked) mark(answered)
        val explanation = if (answered == null && !state.isRunning) context.getString(R.string.ask_empty) else null
        status.show(state.model, state.failure, explanation)
    }

    private fun showProgress(state: AskState) {
        heading.setTextIfChanged(context.getString(R.string.search_indexing, numbers.whole(state.done), numbers.whole(state.parts)))
        if (state.answered == null) listOf(answer, others, facts).forEach { it.text = "" }
    }

    private fun show(answered: Answered) {
        val found = answered.answer
        heading.setTextIfChanged(
            context.getString(
                when (found) {
                    is TextAnswer.Sentences -> R.string.ask_sentence
                    is TextAnswer.Spans, TextAnswer.NoAnswer -> R.string.ask_answer
                },
            ),
        )
        val spans = found.parts
        answer.setTextIfChanged(spans.firstOrNull()?.text ?: context.getString(R.string.ask_no_answer))
        val rest = spans.drop(1)
        others.isVisible = found is TextAnswer.Spans && rest.isNotEmpty()
        others.setTextIfChanged("${context.getString(R.string.ask_others)}: ${rest.joinToString(" · ") { it.text }}")
        facts.setTextIfChanged(factsOf(answered, spans.firstOrNull()))
    }

    private fun factsOf(answered: Answered, best: AnswerSpan?): String {
        val score = best?.let {
            if (answered.answer is TextAnswer.Spans) context.getString(R.string.percent, numbers.percent(it.score.toFloat()))
            else numbers.similarity(it.score.toFloat())
        }
        val plural = if (answered.answer is TextAnswer.Sentences) R.plurals.sentences else R.plurals.windows
        val parts = context.resources.getQuantityString(plural, answered.parts, if (plural == R.plurals.sentences) numbers.whole(answered.parts) else answered.parts)
        val time = context.getString(R.string.milliseconds, numbers.milliseconds(answered.milliseconds))
        return listOfNotNull(score, parts, time).joinToString(" · ")
    }

    /** Marks the answer in the text that the person gave, and scrolls to it. */
    private fun mark(answered: Answered?) {
        marked = answered
        val content: Editable = text.text
        content.getSpans(0, content.length, Mark::class.java).forEach(content::removeSpan)
        val best = answered?.let { it.answer.parts.firstOrNull() } ?: return
        if (content.toString() != answered.text) return // the person has typed on
        content.setSpan(Mark(context.getColor(R.color.answer)), best.start, best.end, Spanned.SPAN_EXCLUSIVE_EXCLUSIVE)
        text.post { text.layout?.let { layout -> scrollTo(layout.getLineTop(layout.getLineForOffset(best.start))) } }
    }

    private fun scrollTo(line: Int) {
        val lowest = (text.layout.height - (text.height - text.totalPaddingTop - text.totalPaddingBottom)).coerceAtLeast(0)
        text.scrollTo(0, (line - text.lineHeight).coerceIn(0, lowest))
    }

    /** The mark of the answer, told apart from what the keyboard marks. */
    private class Mark(color: Int) : BackgroundColorSpan(color)
}
