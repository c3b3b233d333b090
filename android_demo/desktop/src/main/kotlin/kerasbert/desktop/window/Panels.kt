package kerasbert.desktop.window

import java.awt.AlphaComposite
import java.awt.Color
import java.awt.Graphics
import java.awt.Graphics2D
import javax.swing.BorderFactory
import javax.swing.JComponent
import javax.swing.JScrollPane
import javax.swing.border.Border
import javax.swing.plaf.basic.BasicScrollPaneUI

private const val FADED = 0.6f
private const val PADDING = 12

/** A border of empty space. */
internal fun margin(size: Int = MARGIN): Border = BorderFactory.createEmptyBorder(size, size, size, size)

/** A component that scrolls up and down. */
internal fun scrolled(component: JComponent, hasBorder: Boolean = true): JScrollPane =
    JScrollPane(component, JScrollPane.VERTICAL_SCROLLBAR_AS_NEEDED, JScrollPane.HORIZONTAL_SCROLLBAR_NEVER).apply {
        isOpaque = false
        viewport.isOpaque = false
        if (!hasBorder) {
            setUI(BasicScrollPaneUI()) // Nimbus paints a frame of its own
            border = BorderFactory.createEmptyBorder()
        }
    }

/** A surface with results. */
internal class Card(vararg components: JComponent, surface: Color = Colors["surface"], outline: Color = Colors["outline"]) : Column(*components) {
    /** Whether the content is old, as newer work is on its way. */
    var isFaded = false
        set(value) {
            if (value != field) repaint()
            field = value
        }

    init {
        isOpaque = true
        background = surface
        border = BorderFactory.createCompoundBorder(BorderFactory.createLineBorder(outline), margin(PADDING))
    }

    override fun paintChildren(graphics: Graphics) {
        val own = graphics.create() as Graphics2D
        if (isFaded) own.composite = AlphaComposite.getInstance(AlphaComposite.SRC_OVER, FADED)
        super.paintChildren(own)
        own.dispose()
    }
}
