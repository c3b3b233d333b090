package kerasbert.desktop.window

import java.awt.Dimension
import java.awt.event.WindowAdapter
import java.awt.event.WindowEvent
import javax.swing.JFrame
import javax.swing.JTabbedPane
import javax.swing.WindowConstants

/**
 * The window: the five screens of the app as tabs.
 *
 * @param closed called after the person closed it.
 */
internal class DemoWindow(private val demo: Demo, words: Words, private val closed: () -> Unit) {
    /** The window itself. */
    val frame = JFrame(words["app_name"])

    private val pane = JTabbedPane().apply { name = "tabs" }
    private val tabs = listOf(
        ClassifyTab(words, demo),
        AskTab(words, demo),
        SearchTab(words, demo),
        TeachTab(words, demo),
        SpeedTab(words, demo),
    )

    init {
        for (tab in tabs) pane.addTab(tab.title, tab.panel)
        pane.addChangeListener { tabs[pane.selectedIndex].turnTo() }
        frame.contentPane.add(pane)
        frame.minimumSize = LEAST
        frame.size = USUAL
        frame.setLocationRelativeTo(null)
        frame.defaultCloseOperation = WindowConstants.DISPOSE_ON_CLOSE
        frame.addWindowListener(
            object : WindowAdapter() {
                override fun windowClosed(event: WindowEvent) {
                    demo.close()
                    closed()
                }
            },
        )
    }

    /** Shows the window. */
    fun open() {
        frame.isVisible = true
        tabs[pane.selectedIndex].turnTo()
    }

    private companion object {
        val LEAST = Dimension(560, 480)
        val USUAL = Dimension(820, 720)
    }
}
