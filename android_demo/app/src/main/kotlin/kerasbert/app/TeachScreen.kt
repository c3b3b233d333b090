package kerasbert.app

import android.view.LayoutInflater
import android.view.View
import android.view.inputmethod.EditorInfo
import android.widget.EditText
import android.widget.LinearLayout
import android.widget.TextView
import kerasbert.screens.ModelState
import kerasbert.screens.Saving
import kerasbert.screens.TaughtLabel
import kerasbert.screens.TeachPresenter
import kerasbert.screens.TeachState

/**
 * *Teach*: labels of the person's own, from a few examples each.
 *
 * @param chooseDestination asks the person where to save the labels.
 */
class TeachScreen(override val root: View, override val presenter: TeachPresenter, chooseDestination: () -> Unit) : Screen {
    private val context = root.context
    private val status = StatusPart(root)
    private val bars = root.child<LinearLayout>(R.id.teach_bars)
    private val rows = BarRows(bars)
    private val labels = root.child<LinearLayout>(R.id.teach_labels)
    private val newLabel = root.child<EditText>(R.id.teach_new_label)
    private val sample = root.child<View>(R.id.teach_sample)
    private val save = root.child<View>(R.id.teach_save)
    private val saved = root.child<TextView>(R.id.teach_saved)
    private var shown = emptyList<TaughtLabel>()

    override val model: ModelState get() = presenter.state.model

    init {
        root.child<EditText>(R.id.teach_text).onText(presenter::write)
        root.child<View>(R.id.teach_add_label).setOnClickListener { addLabel() }
        newLabel.onDone(::addLabel)
        sample.setOnClickListener { presenter.addSample() }
        save.setOnClickListener { chooseDestination() }
    }

    override fun attach(changed: () -> Unit) = presenter.observe { state ->
        show(state)
        changed()
    }

    override fun detach() = presenter.observe(null)

    private fun addLabel() {
        presenter.addLabel(newLabel.text.toString())
        newLabel.setText("")
    }

    private fun show(state: TeachState) {
        bars.isVisible = state.bars != null
        state.bars?.let(rows::show)
        sample.isVisible = state.labels.isEmpty()
        if (state.labels != shown) show(state.labels)
        save.isVisible = state.canSave
        save.isEnabled = state.saving !is Saving.Running
        show(state.saving)
        status.show(state.model, state.problem, explanation(state))
    }

    private fun show(saving: Saving) {
        val text = when (saving) {
            is Saving.Running -> context.getString(R.string.teach_saving, saving.name)
            is Saving.Done -> context.getString(R.string.teach_saved, saving.name)
            is Saving.Failed, Saving.None -> null
        }
        saved.isVisible = text != null
        saved.setTextIfChanged(text.orEmpty())
    }

    private fun explanation(state: TeachState): String? = when {
        state.labels.isEmpty() -> context.getString(R.string.teach_empty)
        !state.canClassify -> context.getString(R.string.teach_more_needed)
        else -> null
    }

    /** Shows the labels. Cards of labels that stay are kept, with what the person is typing in them. */
    private fun show(taught: List<TaughtLabel>) {
        val before = shown.map { it.name }
        val after = taught.map { it.name }
        if (before != after.take(before.size)) labels.removeAllViews()
        while (labels.childCount < taught.size) labels.addView(card(taught[labels.childCount].name))
        taught.forEachIndexed { place, label -> fill(labels.getChildAt(place), label) }
        shown = taught
    }

    private fun card(label: String): View = LayoutInflater.from(context).inflate(R.layout.part_label, labels, false).apply {
        val field = child<EditText>(R.id.new_example)
        // Fields of several cards have one id, under which Android would restore one text for all.
        field.isSaveEnabled = false
        field.hint = context.getString(R.string.teach_example_hint, label)
        val add = {
            presenter.addExample(label, field.text.toString())
            field.setText("")
        }
        child<View>(R.id.add_example).setOnClickListener { add() }
        field.onDone(add)
        child<TextView>(R.id.label).text = label
        child<View>(R.id.remove_label).apply {
            contentDescription = context.getString(R.string.teach_remove_label, label)
            setOnClickListener { presenter.removeLabel(label) }
        }
    }

    private fun fill(card: View, label: TaughtLabel) {
        val examples = card.child<LinearLayout>(R.id.examples)
        examples.removeAllViews()
        for (example in label.examples) {
            val row = LayoutInflater.from(context).inflate(R.layout.row_example, examples, false)
            row.child<TextView>(R.id.example).text = example
            row.child<View>(R.id.remove_example).apply {
                contentDescription = context.getString(R.string.teach_remove_example, example)
                setOnClickListener { presenter.removeExample(label.name, example) }
            }
            examples.addView(row)
        }
    }

    private fun EditText.onDone(done: () -> Unit) = setOnEditorActionListener { _, action, _ ->
        if (action == EditorInfo.IME_ACTION_DONE) done()
        action == EditorInfo.IME_ACTION_DONE
    }
}
