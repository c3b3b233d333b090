package kerasbert.desktop.window

import java.awt.Container
import java.awt.Dimension
import java.awt.Rectangle
import javax.swing.JComponent
import javax.swing.JPanel
import javax.swing.Scrollable

private const val STEP = 24 // pixels of a turn of the mouse wheel

/** Components below each other at the full width. Each is as high as it needs to be at that width, which text that wraps decides. */
internal open class Column(vararg components: JComponent, gap: Int = GAP) : JPanel(ColumnLayout(gap)), Scrollable {
    init {
        isOpaque = false
        components.forEach(::add)
    }

    override fun setBounds(x: Int, y: Int, width: Int, height: Int) {
        val isNew = width != this.width
        super.setBounds(x, y, width, height)
        if (isNew) revalidate() // the height that it needs is another one
    }

    override fun getPreferredScrollableViewportSize(): Dimension = preferredSize

    override fun getScrollableTracksViewportWidth() = true

    override fun getScrollableTracksViewportHeight() = false

    override fun getScrollableUnitIncrement(visible: Rectangle, orientation: Int, direction: Int) = STEP

    override fun getScrollableBlockIncrement(visible: Rectangle, orientation: Int, direction: Int) = visible.height - STEP
}

private class ColumnLayout(private val gap: Int) : WidthFirstLayout() {
    override fun preferredLayoutSize(parent: Container): Dimension {
        val sizes = visible(parent).map { sizeAt(it, widthIn(parent)) }
        val insets = parent.insets
        val height = sizes.sumOf { it.height } + gap * (sizes.size - 1).coerceAtLeast(0)
        return Dimension((sizes.maxOfOrNull { it.width } ?: 0) + insets.left + insets.right, height + insets.top + insets.bottom)
    }

    override fun layoutContainer(parent: Container) {
        var top = parent.insets.top
        for (component in visible(parent)) {
            val height = sizeAt(component, widthIn(parent)).height
            component.setBounds(parent.insets.left, top, widthIn(parent), height)
            top += height + gap
        }
    }

}
