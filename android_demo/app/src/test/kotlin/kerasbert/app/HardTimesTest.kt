package kerasbert.app

import android.app.AlertDialog
import android.content.DialogInterface
import android.view.View
import android.widget.EditText
import android.widget.TextView
import kerasbert.screens.FailureKind
import kerasbert.screens.ModelState
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Assume.assumeTrue
import org.junit.Test
import org.robolectric.shadows.ShadowDialog
import java.io.ByteArrayInputStream
import java.io.File
import java.io.IOException
import java.io.InputStream
import java.util.concurrent.CountDownLatch

/** Missing, wrong and slow models, full storage, little memory, odd texts: one sentence to the person, and nothing is lost. */
class HardTimesTest : AppTest() {
    @Test
    fun `without a model each screen says so`() {
        open(MainActivity::class.java)
        await("a failure", SECONDS) { app.classify.state.model is ModelState.Failed }
        assertEquals(activity.getString(R.string.failure_no_model), sentence())
        screenshot("no-model")
        for (tab in listOf(R.id.tab_ask, R.id.tab_search, R.id.tab_teach, R.id.tab_speed)) press(tab)
        await("failures", SECONDS) { listOf(app.ask.state.model, app.search.state.model, app.teach.state.model, app.speed.state.model).all { it is ModelState.Failed } }
    }

    @Test
    fun `a file of another maker is refused and leaves nothing behind`() {
        open("sentiment")
        await("a model", SECONDS) { app.classify.state.model is ModelState.Ready }
        choose("notes.tflite", ByteArrayInputStream("not a model".toByteArray()))
        await("a failure", SECONDS) { app.classify.state.model is ModelState.Failed }
        assertEquals(activity.getString(R.string.failure_unreadable_model), sentence())
        val detail = view<View>(R.id.failure).child<TextView>(R.id.failure_detail).text
        assertTrue("received $detail", "notes.tflite" in detail)
        assertEquals(listOf("sentiment.tflite"), models())
        screenshot("wrong-model")
    }

    @Test
    fun `a model from the phone's storage is opened and used`() {
        open("sentiment")
        type(R.id.classify_text, "turn the lamp on in the kitchen")
        awaitClassified()
        choose("my intents (2).tflite", File(TestApplication.ZOO, "intents.tflite").inputStream())
        await("labels of the other model", SECONDS) { app.classify.state.classified?.let { "control_lights" in it.result.toString() } ?: false }
        assertEquals(listOf("my intents (2).tflite", "sentiment.tflite"), models())
    }

    @Test
    fun `no space is left while a model is copied`() {
        open("sentiment")
        await("a model", SECONDS) { app.classify.state.model is ModelState.Ready }
        choose("large.tflite", FailingStream(File(TestApplication.ZOO, "intents.tflite").readBytes().copyOf(1 shl 20)))
        await("a failure", SECONDS) { app.classify.state.model is ModelState.Failed }
        assertEquals(activity.getString(R.string.failure_storage), sentence())
        assertEquals(listOf("sentiment.tflite"), models())
    }

    @Test
    fun `the phone is turned while a slow model runs`() {
        assumeTrue("not run: KERASBERT_LITERT names no library of LiteRT", TestApplication.hasLiteRt)
        app.gate = CountDownLatch(1)
        open("sentiment")
        await("loading", SECONDS) { app.classify.state.model is ModelState.Loading }
        idle()
        assertTrue(view<View>(R.id.loading).isShown)
        screenshot("loading")
        type(R.id.classify_text, "a joy to watch")
        rotate()
        app.gate.countDown()
        awaitClassified()
        assertEquals("positive", view<View>(R.id.classify_bars).child<TextView>(R.id.label).text.toString())
    }

    @Test
    fun `memory runs out, and the next text works again`() {
        open("sentiment")
        await("a model", SECONDS) { app.classify.state.model is ModelState.Ready }
        app.failure = OutOfMemoryError()
        type(R.id.classify_text, "a joy to watch")
        await("a failure", SECONDS) { app.classify.state.failure?.kind == FailureKind.MEMORY }
        assertEquals(activity.getString(R.string.failure_memory), sentence())
        app.failure = null
        app.onTrimMemory(android.content.ComponentCallbacks2.TRIM_MEMORY_BACKGROUND)
        type(R.id.classify_text, "a joy to watch, again")
        awaitClassified()
        assertNull(app.classify.state.failure)
    }

    @Test
    fun `a model that needs a newer runtime is refused in words, and the next one works`() {
        open("sentiment")
        await("a model", SECONDS) { app.classify.state.model is ModelState.Ready }
        choose("newer.tflite", File("../testdata/refused/newer.tflite").inputStream())
        await("a failure", SECONDS) { app.classify.state.model is ModelState.Failed }
        assertEquals(activity.getString(R.string.failure_engine), sentence())
        assertTrue("newer.tflite" in view<View>(R.id.failure).child<TextView>(R.id.failure_detail).text)
        screenshot("newer-model")
        app.classify.choose("sentiment.tflite")
        type(R.id.classify_text, "a joy to watch")
        awaitClassified()
        assertEquals("", sentence())
    }

    @Test
    fun `the process ends in the background, and the texts come back`() {
        open("sentiment", "search")
        type(R.id.classify_text, "a joy to watch")
        press(R.id.tab_ask)
        type(R.id.ask_question, "who came?")
        type(R.id.ask_text, "Nobody came.")
        endProcess()
        assertEquals("who came?", view<EditText>(R.id.ask_question).text.toString())
        assertEquals("Nobody came.", view<EditText>(R.id.ask_text).text.toString())
        assertTrue("the same screen is shown", view<View>(R.id.ask_text).isShown)
        press(R.id.tab_classify)
        assertEquals("a joy to watch", view<EditText>(R.id.classify_text).text.toString())
    }

    @Test
    fun `odd texts are classified`() {
        open("sentiment")
        await("a model", SECONDS) { app.classify.state.model is ModelState.Ready }
        for (text in listOf("😀😀😀", "مرحبا بالعالم", "a\uD800b", "\uDC00", "a\u200Db\u200D", "\u0000\u0001", "ﷺ".repeat(200))) {
            type(R.id.classify_text, text)
            await("labels of ${text.take(8)}", SECONDS) { app.classify.state.classified?.text == text && !app.classify.state.isRunning }
        }
    }

    @Test
    fun `of a text of a megabyte the beginning is read, and the screen says so`() {
        open("sentiment")
        await("a model", SECONDS) { app.classify.state.model is ModelState.Ready }
        app.classify.write("a very long film ".repeat(60_000))
        awaitClassified()
        assertEquals(128, app.classify.state.classified?.readTokens)
        assertTrue(view<TextView>(R.id.classify_truncated).isShown)
    }

    @Test
    fun `a table is imported by the column that the person chooses`() {
        open("search")
        press(R.id.tab_search)
        await("an index", SECONDS) { app.search.state.corpus != null }
        app.search.import("mine.csv") { "id,text\n1,\"the cat, asleep\"\n2,a fast car\n".toByteArray() }
        await("a question", SECONDS) { ShadowDialog.getLatestDialog()?.isShowing ?: false }
        (ShadowDialog.getLatestDialog() as AlertDialog).getButton(DialogInterface.BUTTON_POSITIVE).performClick()
        await("an index", SECONDS) { app.search.state.corpus?.count == 2 }
        type(R.id.search_query, "a kitten sleeps")
        await("results", SECONDS) { app.search.state.matches.isNotEmpty() }
        assertEquals("the cat, asleep", app.search.state.matches.first().text)
        app.search.import("broken.txt") { byteArrayOf(-1, -2) }
        await("a failure", SECONDS) { app.search.state.failure?.kind == FailureKind.UNREADABLE_TEXTS }
        assertEquals("the texts before stay", 2, app.search.state.corpus?.count)
    }

    private fun models() = File(app.filesDir, "models").list().orEmpty().sorted()

    private class FailingStream(content: ByteArray) : InputStream() {
        private val content = ByteArrayInputStream(content)

        override fun read(): Int = content.read().also { if (it < 0) throw IOException("write failed: ENOSPC (No space left on device)") }
    }
}
