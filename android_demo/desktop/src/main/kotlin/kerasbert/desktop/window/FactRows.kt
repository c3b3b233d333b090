package kerasbert.desktop.window

import java.awt.GridBagConstraints
import java.awt.GridBagLayout
import java.awt.Insets
import javax.swing.JLabel
import javax.swing.JPanel

/** Names with values. */
internal class FactRows(name: String) : JPanel(GridBagLayout()) {
    init {
        this.name = name
        isOpaque = false
    }

    /** Shows other facts. */
    fun show(facts: List<Pair<String, String>>) {
        removeAll()
        facts.forEachIndexed { number, (name, value) ->
            add(JLabel(name).apply { foreground = Colors["text_quiet"] }, place(number, 0.0))
            add(JLabel(value), place(number, 1.0))
        }
        revalidate()
        repaint()
    }

    private fun place(row: Int, weight: Double) = GridBagConstraints().apply {
        gridy = row
        weightx = weight
        fill = GridBagConstraints.HORIZONTAL
        insets = Insets(4, 0, 4, 2 * MARGIN)
    }
}
