package kerasbert.desktop.window

import java.awt.Component
import java.awt.Container
import java.awt.Dimension
import java.awt.LayoutManager

/** A layout that gives components their width before it asks for their height, as text that wraps needs it. Java's own ask for both at once. */
internal abstract class WidthFirstLayout : LayoutManager {
    /** The components that take room. */
    protected fun visible(parent: Container): List<Component> = parent.components.filter { it.isVisible }

    /** The room from left to right. */
    protected fun widthIn(parent: Container): Int = parent.width - parent.insets.left - parent.insets.right

    /** The size that a component prefers at a width. */
    protected fun sizeAt(component: Component, width: Int): Dimension {
        if (width > 0 && component.width != width) component.setSize(width, component.height)
        return component.preferredSize
    }

    override fun minimumLayoutSize(parent: Container): Dimension = preferredLayoutSize(parent)

    override fun addLayoutComponent(name: String?, component: Component?) = Unit

    override fun removeLayoutComponent(component: Component?) = Unit
}
