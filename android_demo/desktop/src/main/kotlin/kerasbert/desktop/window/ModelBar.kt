package kerasbert.desktop.window

import java.awt.Component
import javax.swing.DefaultListCellRenderer
import javax.swing.JButton
import javax.swing.JComboBox
import javax.swing.JComponent
import javax.swing.JLabel
import javax.swing.JList
import kerasbert.screens.ModelEntry
import kerasbert.screens.ModelPresenter
import kerasbert.screens.ModelState
import kerasbert.screens.Numbers

private const val SUFFIX = ".tflite"

/** Chooses the model of a tab. */
internal class ModelBar(private val words: Words, private val demo: Demo, private val presenter: ModelPresenter<*>) {
    private val numbers = Numbers(words.locale)
    private val choice = JComboBox<ModelEntry>()
    private val label = JLabel(words["model_choose_name"])
    private val open = JButton(words["model_open_file"]).apply { name = "model_open" }
    private var current = ""
    private var isFilling = false // not the person chooses, but the program

    /** The components. */
    val panel: JComponent = Row(wide = choice, listOf(label, choice, open))

    init {
        choice.name = "model"
        choice.accessibleContext.accessibleName = words["model_choose"]
        choice.renderer = Entries()
        choice.addActionListener { if (!isFilling) (choice.selectedItem as? ModelEntry)?.let { presenter.choose(it.name) } }
        open.addActionListener { openFile() }
    }

    /** Lists the models anew. */
    fun refresh() = demo.threads.background {
        val entries = presenter.choices()
        demo.threads.screen { fill(entries) }
    }

    /** Shows which model the tab has. */
    fun show(model: ModelState) {
        current = when (model) {
            is ModelState.Ready -> model.entry.name
            is ModelState.Loading -> model.name
            is ModelState.Failed -> model.name
            ModelState.None -> ""
        }
        if (model is ModelState.Ready && model.entry !in entries()) refresh()
        select()
    }

    private fun entries() = List(choice.itemCount, choice::getItemAt)

    private fun fill(entries: List<ModelEntry>) = quietly {
        if (entries != entries()) {
            choice.removeAllItems()
            entries.forEach(choice::addItem)
        }
        choice.isEnabled = entries.isNotEmpty()
        select()
    }

    private fun select() = quietly {
        val place = entries().indexOfFirst { it.name == current }
        if (choice.selectedIndex != place) choice.selectedIndex = place
    }

    private fun quietly(change: () -> Unit) {
        val before = isFilling
        isFilling = true
        change()
        isFilling = before
    }

    private fun openFile() {
        val file = FileDialogs.choose(panel, words["model_choose"], SUFFIX.removePrefix(".")) ?: return
        presenter.add(file.name) { demo.source.add(file) }
    }

    private inner class Entries : DefaultListCellRenderer() {
        override fun getListCellRendererComponent(list: JList<*>, value: Any?, index: Int, isSelected: Boolean, hasFocus: Boolean): Component {
            val entry = value as? ModelEntry
            val text = if (entry == null) words["model_none"] else textOf(entry)
            return super.getListCellRendererComponent(list, text, index, isSelected, hasFocus)
        }

        private fun textOf(entry: ModelEntry) =
            words.format("model_facts", entry.name.removeSuffix(SUFFIX), words.nameOf(entry.type), numbers.bytes(entry.bytes.toLong()))
    }
}
