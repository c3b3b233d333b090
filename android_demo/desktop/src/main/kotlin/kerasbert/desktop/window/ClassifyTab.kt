package kerasbert.desktop.window

import java.awt.BorderLayout
import java.awt.Font
import javax.swing.JButton
import javax.swing.JCheckBox
import javax.swing.JComponent
import javax.swing.JPanel
import kerasbert.screens.Classified
import kerasbert.screens.ClassifyState
import kerasbert.screens.Highlight
import kerasbert.screens.ModelState
import kerasbert.screens.Numbers
import kerasbert.screens.TextResult

private const val ROWS = 5

/** *Classify & tag*: labels, a score or entities of a text, while a person types. */
internal class ClassifyTab(private val words: Words, demo: Demo) : Tab {
    override val title = words["screen_classify"]
    override val presenter = demo.classify
    override val models = ModelBar(words, demo, presenter)

    private val numbers = Numbers(words.locale)
    private val text = HintArea("classify_text", words["classify_hint"], ROWS)
    private val showTokens = JCheckBox(words["classify_tokens"]).apply { name = "classify_show_tokens" }
    private val clear = JButton(words["clear"]).apply { name = "classify_clear" }
    private val entities = RichText("classify_entities")
    private val bars = BarRows("classify_bars", words)
    private val facts = WrappedText("classify_facts", Colors["text_quiet"])
    private val result = Card(entities, bars, facts)
    private val truncated = WrappedText("classify_truncated", Colors["text_quiet"])
    private val tokens = RichText("classify_tokens", Font.MONOSPACED)
    private val tokensCard = Card(tokens)
    private val status = StatusPart(words)
    private var shown: Classified? = null

    override val panel: JComponent = JPanel(BorderLayout(GAP, GAP)).apply {
        border = margin()
        add(Column(models.panel, scrolled(text), row(showTokens, clear)), BorderLayout.NORTH)
        add(scrolled(Column(result, truncated, tokensCard, status.panel), hasBorder = false), BorderLayout.CENTER)
    }

    init {
        text.onText(presenter::write)
        showTokens.addActionListener { presenter.showTokens(showTokens.isSelected) }
        clear.addActionListener { text.text = "" }
        presenter.observe(::show)
    }

    private fun show(state: ClassifyState) {
        val classified = state.classified
        models.show(state.model)
        result.isVisible = classified != null
        result.isFaded = state.isRunning
        if (classified != null && classified !== shown) show(classified, state.model)
        shown = classified
        tokensCard.isVisible = state.tokens != null
        state.tokens?.let { tokens.show(piecesOf(it)) }
        truncated.isVisible = classified?.readTokens != null
        classified?.readTokens?.let { truncated.setTextIfChanged(words.format("text_truncated", it)) }
        status.show(state.model, state.failure, if (classified == null) words["classify_empty"] else null)
    }

    private fun show(classified: Classified, model: ModelState) {
        val found = classified.result
        bars.isVisible = found is TextResult.Labels
        entities.isVisible = found !is TextResult.Labels
        when (found) {
            is TextResult.Labels -> bars.show(found.bars)
            is TextResult.Score -> entities.show(listOf(Piece(words.format("classify_score", numbers.similarity(found.value)))))
            is TextResult.Highlights -> show(classified.text, found.highlights)
        }
        val count = words.plural("tokens", classified.tokens)
        val accelerator = (model as? ModelState.Ready)?.let { words.nameOf(it.accelerator) }.orEmpty()
        facts.setTextIfChanged(words.format("text_facts", count, numbers.milliseconds(classified.milliseconds), accelerator))
    }

    private fun show(text: String, highlights: List<Highlight>) {
        entities.show(if (highlights.isEmpty()) listOf(Piece(words["classify_no_entities"])) else piecesOf(text, highlights))
        entities.accessibleContext.accessibleDescription = highlights.joinToString(". ") {
            words.format("entity_description", it.label, text.substring(it.start, it.end), numbers.percent(it.probability))
        }
    }

    /** The text with each entity on a color, followed by its label. */
    private fun piecesOf(text: String, highlights: List<Highlight>): List<Piece> {
        val pieces = ArrayList<Piece>()
        var end = 0
        for (highlight in highlights) {
            val color = Colors.ofLabel(highlight.color)
            pieces += Piece(text.substring(end, highlight.start))
            pieces += Piece(text.substring(highlight.start, highlight.end), color)
            pieces += Piece("\u00A0${highlight.label}", color, isLabel = true)
            end = highlight.end
        }
        return pieces + Piece(text.substring(end))
    }

    /** Tokens on two colors in turn, so that their ends show. */
    private fun piecesOf(tokens: List<String>): List<Piece> = tokens.flatMapIndexed { number, token ->
        listOf(Piece(token, Colors[if (number % 2 == 0) "token_even" else "token_odd"]), Piece(" "))
    }
}
