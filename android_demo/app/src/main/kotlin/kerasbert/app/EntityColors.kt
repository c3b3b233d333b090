package kerasbert.app

import android.content.Context

/** The colors of labels: the first labels of a model have one each, and the others begin again. */
object EntityColors {
    private val COLORS = listOf(R.color.entity_1, R.color.entity_2, R.color.entity_3, R.color.entity_4, R.color.entity_5, R.color.entity_6)

    /** The color of the label with a number. */
    fun of(context: Context, number: Int): Int = context.getColor(COLORS[number % COLORS.size])
}
