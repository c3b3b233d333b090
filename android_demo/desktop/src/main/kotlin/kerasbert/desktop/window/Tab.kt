package kerasbert.desktop.window

import javax.swing.JComponent
import kerasbert.screens.ModelPresenter

/** A tab: the components of a screen, which a presenter fills. */
internal interface Tab {
    /** What its button says. */
    val title: String

    /** The components. */
    val panel: JComponent

    /** The presenter. */
    val presenter: ModelPresenter<*>

    /** The chooser of the model. */
    val models: ModelBar

    /** The person turned to the tab. */
    fun turnTo() {
        models.refresh()
        presenter.start()
    }
}
