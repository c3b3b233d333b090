package kerasbert.desktop.window

import java.awt.Dimension
import java.awt.Font
import java.awt.GridBagConstraints
import java.awt.GridBagLayout
import java.awt.Insets
import javax.swing.JComponent
import javax.swing.JLabel
import javax.swing.JPanel
import javax.swing.JProgressBar
import javax.swing.SwingConstants
import javax.swing.plaf.basic.BasicProgressBarUI
import kerasbert.screens.LabelBar
import kerasbert.screens.Numbers

private const val FULL = 1000 // of a bar
private const val THICKNESS = 12

/** Labels with bars. Rows are kept and filled anew, so that typing does not make the layout jump. */
internal class BarRows(name: String, private val words: Words) : JPanel(GridBagLayout()) {
    private val numbers = Numbers(words.locale)
    private val rows = ArrayList<Bar>()

    init {
        this.name = name
        isOpaque = false
    }

    /** Shows the first labels. */
    fun show(bars: List<LabelBar>) {
        val shown = bars.take(MOST)
        while (rows.size > shown.size) rows.removeAt(rows.size - 1).components.forEach(::remove)
        while (rows.size < shown.size) add(Bar())
        rows.zip(shown).forEach { (row, bar) -> fill(row, bar) }
        revalidate()
        repaint()
    }

    private fun add(row: Bar) {
        val place = GridBagConstraints().apply {
            gridy = rows.size
            fill = GridBagConstraints.HORIZONTAL
            insets = Insets(3, 0, 3, GAP)
        }
        row.components.forEach {
            place.weightx = if (it === row.bar) 1.0 else 0.0
            add(it, place)
        }
        rows.add(row)
    }

    private fun fill(row: Bar, bar: LabelBar) {
        val percent = numbers.percent(bar.probability)
        row.label.text = bar.name
        row.label.font = row.label.font.deriveFont(if (bar.isChosen) Font.BOLD else Font.PLAIN)
        row.percent.text = words.format("percent", percent)
        row.bar.value = (FULL * bar.probability).toInt()
        row.bar.foreground = Colors[if (bar.isChosen) "bar" else "bar_other"]
        row.bar.accessibleContext.accessibleName = words.format(if (bar.isChosen) "label_percent_chosen" else "label_percent", bar.name, percent)
    }

    private class Bar {
        val label = JLabel().apply { name = "label" }
        val bar = JProgressBar(0, FULL).apply {
            setUI(BasicProgressBarUI()) // Nimbus paints its own color
            border = null
            background = Colors["bar_rest"]
            preferredSize = Dimension(1, THICKNESS)
            minimumSize = preferredSize
        }
        val percent = JLabel("", SwingConstants.RIGHT)
        val components: List<JComponent> get() = listOf(label, bar, percent)
    }

    private companion object {
        const val MOST = 12 // labels; a model may have hundreds, and the likeliest come first
    }
}
