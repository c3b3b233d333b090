package kerasbert.desktop.window

import java.awt.BorderLayout
import javax.swing.JButton
import javax.swing.JComponent
import javax.swing.JPanel
import javax.swing.SwingUtilities
import javax.swing.text.DefaultHighlighter
import kerasbert.screens.AnswerSpan
import kerasbert.screens.Answered
import kerasbert.screens.AskState
import kerasbert.screens.Numbers
import kerasbert.screens.TextAnswer

private const val ROWS = 10

/** *Ask*: a question about a text, whose answer is marked in the text itself. */
internal class AskTab(private val words: Words, demo: Demo) : Tab {
    override val title = words["screen_ask"]
    override val presenter = demo.ask
    override val models = ModelBar(words, demo, presenter)

    private val numbers = Numbers(words.locale)
    private val question = HintField("ask_question", words["ask_question_hint"])
    private val ask = JButton(words["ask_run"]).apply { name = "ask_ask" }
    private val example = JButton(words["ask_example"]).apply { name = "ask_example" }
    private val clear = JButton(words["clear"]).apply { name = "ask_clear" }
    private val text = HintArea("ask_text", words["ask_text_hint"], ROWS)
    private val heading = WrappedText("ask_answer_heading", Colors["text_quiet"])
    private val answer = WrappedText("ask_answer", isBold = true)
    private val others = WrappedText("ask_others")
    private val facts = WrappedText("ask_facts", Colors["text_quiet"])
    private val result = Card(heading, answer, others, facts)
    private val status = StatusPart(words)
    private var marked: Answered? = null

    override val panel: JComponent = JPanel(BorderLayout(GAP, GAP)).apply {
        border = margin()
        add(Column(models.panel, row(question, ask, example, clear)), BorderLayout.NORTH)
        add(scrolled(text), BorderLayout.CENTER)
        add(Column(result, status.panel), BorderLayout.SOUTH)
    }

    init {
        text.onText(presenter::writeText)
        question.onText(presenter::writeQuestion)
        question.addActionListener { presenter.ask() }
        ask.addActionListener { presenter.ask() }
        example.addActionListener { showExample() }
        clear.addActionListener { listOf(text, question).forEach { it.text = "" } }
        presenter.observe(::show)
    }

    private fun showExample() {
        text.text = words["ask_example_text"]
        question.text = words["ask_example_question"]
        presenter.ask()
    }

    private fun show(state: AskState) {
        models.show(state.model)
        ask.isEnabled = state.canAsk && !state.isRunning
        val answered = state.answered
        result.isVisible = answered != null || state.isRunning
        result.isFaded = state.isRunning && answered != null
        if (answered != null) show(answered)
        if (state.isRunning) showProgress(state)
        if (answered !== marked) mark(answered)
        status.show(state.model, state.failure, if (answered == null && !state.isRunning) words["ask_empty"] else null)
    }

    private fun showProgress(state: AskState) {
        heading.setTextIfChanged(words.format("search_indexing", numbers.whole(state.done), numbers.whole(state.parts)))
        if (state.answered == null) listOf(answer, others, facts).forEach { it.isVisible = false }
    }

    private fun show(answered: Answered) {
        val found = answered.answer
        val spans = found.parts
        val rest = spans.drop(1)
        heading.setTextIfChanged(words[if (found is TextAnswer.Sentences) "ask_sentence" else "ask_answer"])
        answer.setTextIfChanged(spans.firstOrNull()?.text ?: words["ask_no_answer"])
        others.setTextIfChanged("${words["ask_others"]}: ${rest.joinToString(" · ") { it.text }}")
        facts.setTextIfChanged(factsOf(answered, spans.firstOrNull()))
        listOf(answer, facts).forEach { it.isVisible = true }
        others.isVisible = found is TextAnswer.Spans && rest.isNotEmpty()
    }

    private fun factsOf(answered: Answered, best: AnswerSpan?): String {
        val score = best?.let {
            if (answered.answer is TextAnswer.Spans) words.format("percent", numbers.percent(it.score.toFloat()))
            else numbers.similarity(it.score.toFloat())
        }
        val parts = if (answered.answer is TextAnswer.Sentences) {
            words.plural("sentences", answered.parts, numbers.whole(answered.parts))
        } else {
            words.plural("windows", answered.parts)
        }
        val time = words.format("milliseconds", numbers.milliseconds(answered.milliseconds))
        return listOfNotNull(score, parts, time).joinToString(" · ")
    }

    /** Marks the answer in the text that the person gave, and scrolls to it. */
    private fun mark(answered: Answered?) {
        marked = answered
        text.highlighter.removeAllHighlights()
        val best = answered?.let { it.answer.parts.firstOrNull() } ?: return
        if (text.text != answered.text) return // the person has typed on
        text.highlighter.addHighlight(best.start, best.end, DefaultHighlighter.DefaultHighlightPainter(Colors["answer"]))
        // When the components below have taken their room.
        SwingUtilities.invokeLater {
            if (best.end <= text.document.length) text.modelToView2D(best.start)?.let { text.scrollRectToVisible(it.bounds) }
        }
    }
}
