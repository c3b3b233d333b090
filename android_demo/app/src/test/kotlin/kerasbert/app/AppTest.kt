package kerasbert.app

import org.junit.Assume.assumeTrue
import org.robolectric.RuntimeEnvironment
import org.robolectric.annotation.Config

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

    protected companion object {
        /** How long a busy machine may take. */
        const val SECONDS = 60
    }
}
