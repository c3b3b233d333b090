package kerasbert.desktop.window

import javax.swing.JButton
import javax.swing.JComponent
import kerasbert.screens.TeachPresenter

/**
 * A label with its examples, and a field for another one.
 *
 * @property label the label.
 */
internal class LabelCard(val label: String, private val words: Words, private val presenter: TeachPresenter) {
    private val examples = Column(gap = 2)
    private val field = HintField("new_example", words.format("teach_example_hint", label))
    private val add = JButton(words["teach_add"])
    private var shown = emptyList<String>()

    /** The components. */
    val panel: JComponent = Card(
        row(WrappedText("label", isBold = true).apply { text = label }, remover(words.format("teach_remove_label", label)) { presenter.removeLabel(label) }),
        examples,
        row(field, add),
    )

    init {
        field.addActionListener { addExample() }
        add.addActionListener { addExample() }
    }

    /** Shows other examples. */
    fun show(texts: List<String>) {
        if (texts == shown) return
        shown = texts
        examples.removeAll()
        for (text in texts) examples.add(example(text))
        examples.revalidate()
        examples.repaint()
    }

    private fun addExample() {
        presenter.addExample(label, field.text)
        field.text = ""
    }

    private fun example(text: String) = row(
        WrappedText("example").apply { this.text = text },
        remover(words.format("teach_remove_example", text)) { presenter.removeExample(label, text) },
    )

    private fun remover(description: String, remove: () -> Unit) = JButton("\u00D7").apply {
        toolTipText = description
        accessibleContext.accessibleName = description
        addActionListener { remove() }
    }
}
