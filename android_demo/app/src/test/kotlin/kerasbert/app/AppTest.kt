package kerasbert.app

import android.app.Activity
import android.app.AlertDialog
import android.content.DialogInterface
import android.content.Intent
import android.net.Uri
import android.view.View
import android.view.ViewGroup
import android.widget.TextView
import org.junit.Assume.assumeTrue
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config
import org.robolectric.shadows.ShadowDialog
import java.io.InputStream

/** A test of the app's screens, with models of the zoo and LiteRT's library of this machine. */
@Config(application = TestApplication::class)
abstract class AppTest : ScreenTest() {
    /** What lives as long as the app's process. */
    protected val app get() = RuntimeEnvironment.getApplication() as TestApplication

    /** Opens the app with some models of the zoo; `not run` on a machine without LiteRT's library. */
    protected fun open(vararg models: String) {
        assumeTrue("not run: KERASBERT_LITERT names no library of LiteRT", TestApplication.hasLiteRt)
        app.addModels(*models)
        open(MainActivity::class.java)
    }

    /** Waits for the result of the text on *Classify & tag*. */
    protected fun awaitClassified() = await("a result", SECONDS) { app.classify.state.classified != null && !app.classify.state.isRunning }

    /** The part of the app that is shown now. */
    protected fun shownScreen(): View = view<ViewGroup>(R.id.content).let { content ->
        (0 until content.childCount).map(content::getChildAt).single { it.isShown }
    }

    /** The sentence about a failure on the shown screen. */
    protected fun sentence(): String = shownScreen().child<TextView>(R.id.failure_sentence).let { if (it.isShown) it.text.toString() else "" }

    /** Chooses a file as a person does: model, open a file, and the picker's answer. */
    protected fun choose(name: String, content: InputStream) {
        press(R.id.model)
        await("a choice of models", SECONDS) { ShadowDialog.getLatestDialog()?.isShowing ?: false }
        (ShadowDialog.getLatestDialog() as AlertDialog).getButton(DialogInterface.BUTTON_NEUTRAL).performClick()
        idle()
        val uri = Uri.parse("content://files/$name")
        shadowOf(activity.contentResolver).registerInputStream(uri, content)
        val asked = shadowOf(activity).nextStartedActivityForResult
        shadowOf(activity).receiveResult(asked.intent, Activity.RESULT_OK, Intent().setData(uri))
        idle()
    }

    protected companion object {
        /** How long a busy machine may take. */
        const val SECONDS = 60
    }
}
