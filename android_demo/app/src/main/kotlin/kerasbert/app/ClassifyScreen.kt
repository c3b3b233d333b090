package kerasbert.app

import android.graphics.Typeface
import android.text.SpannableString
import android.text.Spanned
import android.text.SpannableStringBuilder
import android.text.style.BackgroundColorSpan
import android.text.style.ForegroundColorSpan
import android.text.style.RelativeSizeSpan
import android.text.style.StyleSpan
import android.view.View
import android.widget.CheckBox
import android.widget.EditText
import android.widget.LinearLayout
import android.widget.TextView
import kerasbert.screens.Classified
import kerasbert.screens.ClassifyPresenter
import kerasbert.screens.ClassifyState
import kerasbert.screens.Highlight
import kerasbert.screens.ModelState
import kerasbert.screens.TextResult

/** *Classify & tag*: labels, a score or entities of a text, while a person types. */
class ClassifyScreen(override val root: View, override val presenter: ClassifyPresenter) : Screen {
    private val context = root.context
    private val numbers = context.numbers
    private val status = StatusPart(root)
    private val text = root.child<EditText>(R.id.classify_text)
    private val showTokens = root.child<CheckBox>(R.id.classify_show_tokens)
    private val tokens = root.child<TextView>(R.id.classify_tokens)
    private val result = root.child<View>(R.id.classify_result)
    private val entities = root.child<TextView>(R.id.classify_entities)
    private val bars = root.child<LinearLayout>(R.id.classify_bars)
    private val rows = BarRows(bars)
    private val facts = root.child<TextView>(R.id.classify_facts)
    private val truncated = root.child<TextView>(R.id.classify_truncated)

    override val model: ModelState get() = presenter.state.model

    init {
        text.onText(presenter::write)
        showTokens.setOnCheckedChangeListener { _, shows -> presenter.showTokens(shows) }
        root.child<View>(R.id.classify_clear).setOnClickListener { text.setText("") }
    }

    override fun attach(changed: () -> Unit) = presenter.observe { state ->
        show(state)
        changed()
    }

    override fun detach() = presenter.observe(null)

    private fun show(state: ClassifyState) {
        val classified = state.classified
        result.isVisible = classified != null
        // A newer result is on its way: the old one stays, and shows that it is old.
        result.alpha = if (state.isRunning) FADED else 1f
        if (classified != null) show(classified, state)
        tokens.isVisible = state.tokens != null
        state.tokens?.let { tokens.text = tokensText(it) }
        truncated.isVisible = classified?.readTokens != null
        classified?.readTokens?.let { truncated.setTextIfChanged(context.getString(R.string.text_truncated, it)) }
        status.show(state.model, state.failure, if (classified == null) context.getString(R.string.classify_empty) else null)
    }

    private fun show(classified: Classified, state: ClassifyState) {
        val shown = classified.result
        bars.isVisible = shown is TextResult.Labels
        entities.isVisible = shown !is TextResult.Labels
        when (shown) {
            is TextResult.Labels -> rows.show(shown.bars)
            is TextResult.Score -> entities.setTextIfChanged(context.getString(R.string.classify_score, numbers.similarity(shown.value)))
            is TextResult.Highlights -> show(classified.text, shown.highlights)
        }
        val count = context.resources.getQuantityString(R.plurals.tokens, classified.tokens, classified.tokens)
        val accelerator = (state.model as? ModelState.Ready)?.let { context.nameOf(it.accelerator) }.orEmpty()
        facts.setTextIfChanged(context.getString(R.string.text_facts, count, numbers.milliseconds(classified.milliseconds), accelerator))
    }

    private fun show(text: String, highlights: List<Highlight>) {
        if (highlights.isEmpty()) {
            entities.setTextIfChanged(context.getString(R.string.classify_no_entities))
            entities.contentDescription = null
            return
        }
        entities.text = highlighted(text, highlights)
        entities.contentDescription = highlights.joinToString(". ") {
            context.getString(R.string.entity_description, it.label, text.substring(it.start, it.end), numbers.percent(it.probability))
        }
    }

    /** The text with each entity on a color, followed by its label. */
    private fun highlighted(text: String, highlights: List<Highlight>): CharSequence {
        val shown = SpannableStringBuilder()
        var end = 0
        for (highlight in highlights) {
            shown.append(text, end, highlight.start)
            val start = shown.length
            shown.append(text, highlight.start, highlight.end)
            val label = shown.length
            shown.append("\u00A0").append(highlight.label)
            shown.setSpan(BackgroundColorSpan(EntityColors.of(context, highlight.color)), start, shown.length, Spanned.SPAN_EXCLUSIVE_EXCLUSIVE)
            shown.setSpan(RelativeSizeSpan(LABEL_SIZE), label, shown.length, Spanned.SPAN_EXCLUSIVE_EXCLUSIVE)
            shown.setSpan(StyleSpan(Typeface.BOLD), label, shown.length, Spanned.SPAN_EXCLUSIVE_EXCLUSIVE)
            end = highlight.end
        }
        return shown.append(text, end, text.length)
    }

    /** Tokens on two colors in turn, so that their ends show. */
    private fun tokensText(tokens: List<String>): CharSequence {
        val shown = SpannableStringBuilder()
        val colors = listOf(context.getColor(R.color.token_even), context.getColor(R.color.token_odd))
        tokens.forEachIndexed { number, token ->
            val piece = SpannableString(token)
            piece.setSpan(BackgroundColorSpan(colors[number % colors.size]), 0, token.length, Spanned.SPAN_EXCLUSIVE_EXCLUSIVE)
            piece.setSpan(ForegroundColorSpan(context.getColor(R.color.text)), 0, token.length, Spanned.SPAN_EXCLUSIVE_EXCLUSIVE)
            shown.append(piece).append(' ')
        }
        return shown
    }

    private companion object {
        const val FADED = 0.6f
        const val LABEL_SIZE = 0.7f
    }
}
