package kerasbert.desktop.window

import java.awt.Color

/** The colors of the app's light theme. */
internal object Colors {
    private val colors = elementsOf(AppResources.open("values/colors.xml")).associate { it.getAttribute("name") to Color.decode(it.textContent) }
    private val entities = generateSequence(1) { it + 1 }.map { colors["entity_$it"] }.takeWhile { it != null }.filterNotNull().toList()

    /** The color of a name. */
    operator fun get(name: String): Color = checkNotNull(colors[name]) { "expected a color $name in colors.xml, received none" }

    /** The color of the label with a number: the first labels of a model have one each, and the others begin again. */
    fun ofLabel(number: Int): Color = entities[number % entities.size]
}
