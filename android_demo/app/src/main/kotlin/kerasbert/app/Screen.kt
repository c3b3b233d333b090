package kerasbert.app

import android.view.View
import kerasbert.screens.ModelPresenter
import kerasbert.screens.ModelState

/** A screen: its views, and the presenter that fills them. */
interface Screen {
    /** The screen's views. */
    val root: View

    /** The presenter. */
    val presenter: ModelPresenter<*>

    /** The model of the present state. */
    val model: ModelState

    /** Shows the presenter's states from now on; `changed` is called after each. */
    fun attach(changed: () -> Unit)

    /** Ends that: the activity goes, and the presenter stays. */
    fun detach()
}
