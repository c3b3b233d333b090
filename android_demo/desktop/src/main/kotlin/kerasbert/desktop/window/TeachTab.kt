package kerasbert.desktop.window

import java.awt.BorderLayout
import java.awt.Component
import java.io.File
import javax.swing.JButton
import javax.swing.JComponent
import javax.swing.JOptionPane
import javax.swing.JPanel
import kerasbert.screens.Saving
import kerasbert.screens.TaughtLabel
import kerasbert.screens.TeachState

private const val SAVED_NAME = "taught.tflite"

/** *Teach*: labels of the person's own, from a few examples each. */
internal class TeachTab(private val words: Words, private val demo: Demo) : Tab {
    override val title = words["screen_teach"]
    override val presenter = demo.teach
    override val models = ModelBar(words, demo, presenter)

    private val text = HintField("teach_text", words["teach_text_hint"])
    private val bars = BarRows("teach_bars", words)
    private val result = Card(bars)
    private val status = StatusPart(words)
    private val saved = WrappedText("teach_saved", Colors["text_quiet"])
    private val save = JButton(words["teach_save"]).apply { name = "teach_save" }
    private val savingRow = row(saved, save)
    private val newLabel = HintField("teach_new_label", words["teach_label_hint"])
    private val addLabel = JButton(words["teach_add"]).apply { name = "teach_add_label" }
    private val sample = JButton(words["teach_sample"]).apply { name = "teach_sample" }
    private val labels = Column().apply { name = "teach_labels" }
    private val cards = ArrayList<LabelCard>()

    override val panel: JComponent = JPanel(BorderLayout(GAP, GAP)).apply {
        border = margin()
        add(Column(models.panel, text, result, status.panel, savingRow, row(newLabel, addLabel, sample)), BorderLayout.NORTH)
        add(scrolled(labels, hasBorder = false), BorderLayout.CENTER)
    }

    init {
        text.onText(presenter::write)
        addLabel.addActionListener { addLabel() }
        newLabel.addActionListener { addLabel() }
        sample.addActionListener { presenter.addSample() }
        save.addActionListener { saveFile() }
        presenter.observe(::show)
    }

    private fun addLabel() {
        presenter.addLabel(newLabel.text)
        newLabel.text = ""
    }

    private fun show(state: TeachState) {
        models.show(state.model)
        result.isVisible = state.bars != null
        state.bars?.let(bars::show)
        sample.isVisible = state.labels.isEmpty()
        show(state.labels)
        save.isVisible = state.canSave
        save.isEnabled = state.saving !is Saving.Running
        saved.setTextIfChanged(textOf(state.saving))
        savingRow.isVisible = save.isVisible || saved.text.isNotEmpty()
        status.show(state.model, state.problem, explanation(state))
    }

    private fun textOf(saving: Saving): String = when (saving) {
        is Saving.Running -> words.format("teach_saving", saving.name)
        is Saving.Done -> words.format("teach_saved", saving.name)
        is Saving.Failed, Saving.None -> ""
    }

    private fun saveFile() {
        val file = FileDialogs.chooseNew(panel, words["teach_save"], SAVED_NAME, "tflite", ::mayReplace) ?: return
        presenter.save(demo.destination(file))
    }

    private fun mayReplace(dialog: Component, file: File): Boolean =
        JOptionPane.showConfirmDialog(dialog, words.format("teach_replace", file.name), words["teach_save"], JOptionPane.YES_NO_OPTION) ==
            JOptionPane.YES_OPTION

    private fun explanation(state: TeachState): String? = when {
        state.labels.isEmpty() -> words["teach_empty"]
        !state.canClassify -> words["teach_more_needed"]
        else -> null
    }

    /** Shows the labels. Cards of labels that stay are kept, with what the person is typing in them. */
    private fun show(taught: List<TaughtLabel>) {
        val names = taught.map { it.name }
        if (cards.map { it.label } != names) {
            val kept = cards.associateBy { it.label }
            cards.clear()
            labels.removeAll()
            names.mapTo(cards) { kept[it] ?: LabelCard(it, words, presenter) }
            cards.forEach { labels.add(it.panel) }
            labels.revalidate()
            labels.repaint()
        }
        cards.zip(taught).forEach { (card, label) -> card.show(label.examples) }
    }
}
