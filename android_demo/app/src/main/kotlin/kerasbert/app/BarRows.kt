package kerasbert.app

import android.content.res.ColorStateList
import android.view.LayoutInflater
import android.view.View
import android.view.ViewGroup
import android.widget.LinearLayout
import android.widget.ProgressBar
import android.widget.TextView
import kerasbert.screens.LabelBar

private const val FULL = 1000 // of a bar, as in row_bar.xml

/** Labels with bars. Rows are kept and filled anew, so that typing does not make the layout jump. */
class BarRows(private val parent: LinearLayout) {
    private val context = parent.context
    private val numbers = context.numbers

    /** Shows the first labels. */
    fun show(bars: List<LabelBar>) {
        val shown = bars.take(MOST)
        while (parent.childCount > shown.size) parent.removeViewAt(parent.childCount - 1)
        shown.forEachIndexed { place, bar -> fill(parent.getChildAt(place) ?: add(parent), bar) }
    }

    private fun add(parent: ViewGroup): View =
        LayoutInflater.from(context).inflate(R.layout.row_bar, parent, false).also(parent::addView)

    private fun fill(row: View, bar: LabelBar) {
        val percent = numbers.percent(bar.probability)
        row.child<TextView>(R.id.label).setTextIfChanged(bar.name)
        row.child<TextView>(R.id.value).setTextIfChanged(context.getString(R.string.percent, percent))
        row.child<ProgressBar>(R.id.bar).apply {
            progress = (FULL * bar.probability).toInt()
            progressTintList = ColorStateList.valueOf(context.getColor(if (bar.isChosen) R.color.bar else R.color.bar_other))
        }
        row.contentDescription =
            context.getString(if (bar.isChosen) R.string.label_percent_chosen else R.string.label_percent, bar.name, percent)
    }

    private companion object {
        const val MOST = 12 // labels; a model may have hundreds, and the likeliest come first
    }
}
