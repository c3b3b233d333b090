package kerasbert.app

import android.app.Application
import android.widget.Button
import android.widget.EditText
import android.widget.ListView
import android.widget.TextView
import androidx.test.platform.app.InstrumentationRegistry
import kerasbert.screens.FailureKind
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Assume.assumeTrue
import org.junit.Test
import org.robolectric.RuntimeEnvironment
import org.robolectric.annotation.Config
import java.util.concurrent.CountDownLatch

/** The app as a person meets it, with the zoo's models and LiteRT's library of this machine. */
@Config(application = TestApplication::class)
class MainScreenTest : ScreenTest() {
    private val app get() = RuntimeEnvironment.getApplication() as TestApplication

    private fun open(vararg models: String) {
        assumeTrue("not run: KERASBERT_LITERT names no library of LiteRT", TestApplication.hasLiteRt)
        app.addModels(*models)
        open(MainActivity::class.java)
    }

    @Test
    fun `labels appear while a person types`() {
        open("sentiment")
        type(R.id.classify_text, "the film was really lovely from start to end")
        await("labels") { app.classify.state.classified != null && !app.classify.state.isRunning }
        val label = view<android.view.View>(R.id.classify_bars).child<TextView>(R.id.label).text
        assertEquals("positive", label.toString())
        screenshot("classify")
    }
}
