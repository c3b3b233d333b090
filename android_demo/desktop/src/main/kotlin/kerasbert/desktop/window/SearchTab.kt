package kerasbert.desktop.window

import java.awt.BorderLayout
import java.awt.Component
import java.io.File
import javax.swing.DefaultListModel
import javax.swing.JButton
import javax.swing.JComponent
import javax.swing.JLabel
import javax.swing.JList
import javax.swing.JOptionPane
import javax.swing.JPanel
import javax.swing.JProgressBar
import javax.swing.ListCellRenderer
import javax.swing.SwingUtilities
import kerasbert.core.KerasBertException
import kerasbert.core.search.Match
import kerasbert.screens.ColumnChoice
import kerasbert.screens.ModelState
import kerasbert.screens.Numbers
import kerasbert.screens.SearchState

private const val MOST_TEXT = 64 shl 20 // bytes of a file
private const val HIT_MARGIN = 6

/** *Search*: texts by meaning, while a person types. */
internal class SearchTab(private val words: Words, demo: Demo) : Tab {
    override val title = words["screen_search"]
    override val presenter = demo.search
    override val models = ModelBar(words, demo, presenter)

    private val numbers = Numbers(words.locale)
    private val query = HintField("search_query", words["search_hint"])
    private val import = JButton(words["search_import"]).apply { name = "search_import" }
    private val corpus = JLabel().apply { name = "search_corpus" }
    private val indexing = JProgressBar()
    private val cancel = JButton(words["search_cancel"])
    private val status = StatusPart(words)
    private val hits = DefaultListModel<Match>()
    private val list = JList(hits).apply { name = "search_hits" }
    private val results = scrolled(list)
    private var asked: ColumnChoice? = null

    override val panel: JComponent = JPanel(BorderLayout(GAP, GAP)).apply {
        border = margin()
        add(Column(models.panel, row(query, import), row(corpus, indexing, cancel), status.panel), BorderLayout.NORTH)
        add(results, BorderLayout.CENTER)
    }

    init {
        corpus.foreground = Colors["text_quiet"]
        list.cellRenderer = Hit()
        query.onText(presenter::write)
        import.addActionListener { importTexts() }
        cancel.addActionListener { presenter.cancel() }
        presenter.observe(::show)
    }

    private fun show(state: SearchState) {
        models.show(state.model)
        val isBuilding = state.total > 0
        indexing.isVisible = isBuilding
        indexing.maximum = state.total
        indexing.value = state.done
        cancel.isVisible = isBuilding
        import.isEnabled = state.model is ModelState.Ready
        corpus.text = corpusText(state, isBuilding)
        show(state.matches)
        status.show(state.model, state.failure, if (state.matches.isEmpty() && !isBuilding) words["search_empty"] else null)
        if (state.choice != asked) ask(state.choice)
    }

    private fun show(matches: List<Match>) {
        results.isVisible = matches.isNotEmpty()
        if (matches == hits.elements().toList()) return
        hits.clear()
        hits.addAll(matches)
        list.ensureIndexIsVisible(0)
    }

    private fun corpusText(state: SearchState, isBuilding: Boolean): String {
        if (isBuilding) return words.format("search_indexing", numbers.whole(state.done), numbers.whole(state.total))
        val texts = state.corpus ?: return " " // keeps the height of the line
        val name = texts.name.ifEmpty { words["search_sample"] }
        val count = words.plural("sentences", texts.count, numbers.whole(texts.count))
        val index = words.format("search_index", count, numbers.bytes(texts.bytes))
        val time = state.milliseconds?.let { words.format("milliseconds", numbers.milliseconds(it)) }
        return listOfNotNull(name, index, time).joinToString(" · ")
    }

    private fun importTexts() {
        val file = FileDialogs.choose(panel, words["search_import"], "txt", "csv", "tsv", "kbindex") ?: return
        presenter.import(file.name) { read(file) }
    }

    private fun read(file: File): ByteArray {
        if (file.length() > MOST_TEXT) {
            throw KerasBertException("expected a file of at most ${MOST_TEXT shr 20} MB, received ${file.name}, which is larger; split it")
        }
        return file.readBytes()
    }

    /** Asks for a column, after the presenter has shown its state: the dialog waits for the person. */
    private fun ask(choice: ColumnChoice?) {
        asked = choice
        if (choice != null) SwingUtilities.invokeLater { presenter.chooseColumn(columnOf(choice)) }
    }

    private fun columnOf(choice: ColumnChoice): Int? {
        val columns = choice.columns.mapIndexed(::NamedColumn).toTypedArray()
        val chosen = JOptionPane.showInputDialog(
            panel, words["search_column"], choice.name, JOptionPane.QUESTION_MESSAGE, null, columns, columns[choice.likeliest],
        )
        return (chosen as NamedColumn?)?.number
    }

    /** A column of a table, in which two may have one name. */
    private class NamedColumn(val number: Int, private val name: String) {
        override fun toString() = name
    }

    private inner class Hit : ListCellRenderer<Match> {
        private val text = JLabel()
        private val score = JLabel()
        private val row = row(text, score).apply {
            border = margin(HIT_MARGIN)
            isOpaque = true
        }

        override fun getListCellRendererComponent(list: JList<out Match>, match: Match, index: Int, isSelected: Boolean, hasFocus: Boolean): Component {
            text.text = match.text
            text.foreground = if (isSelected) list.selectionForeground else Colors["text"]
            score.text = numbers.similarity(match.score)
            score.foreground = if (isSelected) list.selectionForeground else Colors["text_quiet"]
            row.background = if (isSelected) list.selectionBackground else Colors["surface"]
            row.toolTipText = match.text
            row.accessibleContext.accessibleName = words.format("search_hit", match.text, score.text)
            return row
        }
    }
}
