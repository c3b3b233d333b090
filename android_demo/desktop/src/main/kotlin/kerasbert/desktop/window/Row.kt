package kerasbert.desktop.window

import java.awt.Component
import java.awt.Container
import java.awt.Dimension
import javax.swing.JComponent
import javax.swing.JPanel

/**
 * Components beside each other.
 *
 * @param wide the one that takes the room that the others leave.
 */
internal class Row(private val wide: JComponent, components: List<JComponent>) : JPanel(RowLayout(wide)) {
    init {
        isOpaque = false
        components.forEach(::add)
    }

    override fun setBounds(x: Int, y: Int, width: Int, height: Int) {
        val isNew = width != this.width
        super.setBounds(x, y, width, height)
        if (isNew) revalidate() // the height that it needs is another one
    }
}

/** A row whose first component is the wide one. */
internal fun row(wide: JComponent, vararg others: JComponent) = Row(wide, listOf(wide) + others)

private class RowLayout(private val wide: Component) : WidthFirstLayout() {
    override fun preferredLayoutSize(parent: Container): Dimension {
        val sizes = sizes(parent).values
        val insets = parent.insets
        val width = sizes.sumOf { it.width } + GAP * (sizes.size - 1).coerceAtLeast(0)
        return Dimension(width + insets.left + insets.right, (sizes.maxOfOrNull { it.height } ?: 0) + insets.top + insets.bottom)
    }

    override fun layoutContainer(parent: Container) {
        var left = parent.insets.left
        val height = parent.height - parent.insets.top - parent.insets.bottom
        for ((component, size) in sizes(parent)) {
            val width = if (component === wide) room(parent) else size.width
            component.setBounds(left, parent.insets.top + (height - size.height) / 2, width, size.height)
            left += width + GAP
        }
    }

    private fun sizes(parent: Container): Map<Component, Dimension> =
        visible(parent).associateWith { if (it === wide) sizeAt(it, room(parent)) else it.preferredSize }

    private fun room(parent: Container): Int =
        (widthIn(parent) - visible(parent).filter { it !== wide }.sumOf { it.preferredSize.width + GAP }).coerceAtLeast(0)
}
