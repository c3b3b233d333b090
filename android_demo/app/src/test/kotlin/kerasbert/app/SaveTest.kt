package kerasbert.app

import android.app.Activity
import android.content.Intent
import android.view.View
import android.widget.TextView
import kerasbert.core.file.ModelFile
import kerasbert.core.model.TextModel
import kerasbert.core.tasks.FewShotClassification
import kerasbert.core.tasks.taskOf
import kerasbert.desktop.litert.JnaEngine
import kerasbert.screens.FailureKind
import kerasbert.screens.ModelState
import kerasbert.screens.Saving
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.robolectric.Robolectric
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import java.io.File
import java.io.IOException
import java.io.OutputStream
import java.util.concurrent.CountDownLatch

/** *Teach* saves labels as a file of the phone's storage. */
class SaveTest : AppTest() {
    @get:Rule
    val folder = TemporaryFolder()

    private val documents by lazy {
        Robolectric.setupContentProvider(Documents::class.java, Documents.AUTHORITY).also { it.folder = folder.root }
    }

    /** Opens the screen with the sample's labels. */
    private fun teach() {
        open("search", "sentiment")
        press(R.id.tab_teach)
        await("a model", SECONDS) { app.teach.state.model is ModelState.Ready }
        press(R.id.teach_sample)
    }

    /** Presses the button and answers Android's picker, which makes an empty file unless one of that name is there. */
    private fun save(name: String): File {
        press(R.id.teach_save)
        val asked = shadowOf(activity).nextStartedActivityForResult.intent
        assertEquals(Intent.ACTION_CREATE_DOCUMENT, asked.action)
        assertEquals("taught.tflite", asked.getStringExtra(Intent.EXTRA_TITLE))
        val file = documents.file(name).apply { createNewFile() }
        shadowOf(activity).receiveResult(asked, Activity.RESULT_OK, Intent().setData(documents.uri(name)))
        idle()
        return file
    }

    private fun awaitSaved(name: String) = await("a saved file", SECONDS) { app.teach.state.saving == Saving.Done(name) }

    private fun awaitFailure(kind: FailureKind) = await("a failure", SECONDS) { app.teach.state.problem?.kind == kind }

    private fun said() = view<TextView>(R.id.teach_saved).let { if (it.isShown) it.text.toString() else "" }

    @Test
    fun `a saved file is a model that classifies as the screen does`() {
        teach()
        type(R.id.teach_text, "my order never came")
        await("a label", SECONDS) { app.teach.state.bars != null }
        val file = save("my labels.tflite")
        awaitSaved("my labels.tflite")
        assertEquals("Saved as my labels.tflite.", said())
        screenshot("teach-saved")
        val bars = checkNotNull(app.teach.state.bars)
        (taskOf(TextModel.open(ModelFile.open(file)) { JnaEngine.open(file) }) as FewShotClassification).use { task ->
            val found = task.classify("my order never came").classes.sortedByDescending { it.probability }
            assertEquals(bars.map { it.name }, found.map { it.name })
            bars.zip(found) { bar, saved -> assertEquals(bar.probability, saved.probability, TOLERANCE) }
        }
        rotate()
        assertEquals("a turned phone still says so", "Saved as my labels.tflite.", said())
        press(R.id.tab_classify)
        choose("my labels.tflite", file.inputStream())
        type(R.id.classify_text, "my order never came")
        await("a label", SECONDS) { app.classify.state.classified?.let { "delivery" in it.result.toString() } ?: false }
    }

    @Test
    fun `a longer file is replaced as a whole, and saving twice gives one content`() {
        teach()
        val first = save("first.tflite")
        awaitSaved("first.tflite")
        documents.file("second.tflite").writeBytes(ByteArray(first.length().toInt() + 1000) { 1 })
        val second = save("second.tflite")
        awaitSaved("second.tflite")
        assertArrayEquals(first.readBytes(), second.readBytes())
    }

    @Test
    fun `no space is left while a file is written, and the next one is saved`() {
        teach()
        val uri = documents.uri("large.tflite")
        shadowOf(app.contentResolver).registerOutputStreamSupplier(uri) { FullStream(documents.file("large.tflite")) }
        val file = save("large.tflite")
        awaitFailure(FailureKind.SAVING)
        assertEquals(activity.getString(R.string.failure_saving), sentence())
        assertTrue("ENOSPC" in shownScreen().child<TextView>(R.id.failure_detail).text)
        assertFalse("its beginning is gone", file.exists())
        assertEquals("", said())
        screenshot("teach-not-saved")
        save("other.tflite")
        awaitSaved("other.tflite")
        assertEquals("", sentence())
    }

    @Test
    fun `a file that cannot be made leaves no empty one, and an earlier one as it is`() {
        teach()
        app.failure = OutOfMemoryError()
        val fresh = save("new.tflite")
        awaitFailure(FailureKind.MEMORY)
        assertEquals(activity.getString(R.string.failure_memory), sentence())
        await("its end", SECONDS) { !fresh.exists() }
        documents.file("old.tflite").writeText("of another app")
        app.teach.addExample("delivery", "a parcel")
        val old = save("old.tflite")
        awaitFailure(FailureKind.MEMORY)
        assertEquals("of another app", old.readText())
    }

    @Test
    fun `an app that deletes no documents does not hide the failure`() {
        teach()
        documents.canDelete = false
        app.failure = OutOfMemoryError()
        assertTrue(save("new.tflite").exists())
        awaitFailure(FailureKind.MEMORY)
    }

    @Test
    fun `a closed picker saves nothing`() {
        teach()
        press(R.id.teach_save)
        shadowOf(activity).receiveResult(shadowOf(activity).nextStartedActivityForResult.intent, Activity.RESULT_CANCELED, null)
        idle()
        assertEquals(Saving.None, app.teach.state.saving)
        assertEquals("", said())
    }

    @Test
    fun `two labels and a sentence encoder are needed`() {
        open("search", "sentiment")
        press(R.id.tab_teach)
        await("a model", SECONDS) { app.teach.state.model is ModelState.Ready }
        val save = { view<View>(R.id.teach_save).isShown }
        assertFalse("no label", save())
        app.teach.addLabel("fruit")
        app.teach.addExample("fruit", "an apple")
        app.teach.addLabel("color")
        idle()
        assertFalse("one label without an example", save())
        app.teach.addExample("color", "dark red")
        idle()
        assertTrue(save())
        app.teach.choose("sentiment.tflite")
        await("a failure", SECONDS) { app.teach.state.model is ModelState.Failed }
        assertFalse("a model for another task", save())
    }

    @Test
    fun `the button waits while a file is made`() {
        teach()
        app.gate = CountDownLatch(1)
        save("mine.tflite")
        assertEquals("Saving mine.tflite…", said())
        assertFalse(view<View>(R.id.teach_save).isEnabled)
        rotate()
        assertEquals("Saving mine.tflite…", said())
        assertFalse(view<View>(R.id.teach_save).isEnabled)
        app.gate.countDown()
        awaitSaved("mine.tflite")
        assertTrue(view<View>(R.id.teach_save).isEnabled)
        assertNull(app.teach.state.problem)
    }

    @Test
    fun `a narrow phone in the dark, in German with fonts of twice the size`() {
        RuntimeEnvironment.setQualifiers("+w320dp-h640dp")
        darkTheme()
        language("de")
        largeFont(2f)
        teach()
        save("meine eigenen Klassen.tflite")
        awaitSaved("meine eigenen Klassen.tflite")
        assertEquals("Als meine eigenen Klassen.tflite gespeichert.", said())
        screenshot("teach-saved-narrow")
        for (text in listOf(view<TextView>(R.id.teach_save), view(R.id.teach_saved))) {
            assertTrue("${text.text}", text.layout.height + text.compoundPaddingTop + text.compoundPaddingBottom <= text.height)
            assertTrue("${text.text}", text.left >= 0 && text.right <= (text.parent as View).width)
        }
    }

    /** A document on a full disk: the first bytes are written. */
    private class FullStream(private val file: File) : OutputStream() {
        override fun write(byte: Int) {
            file.appendBytes(byteArrayOf(byte.toByte()))
            if (file.length() > FITTING) throw IOException("write failed: ENOSPC (No space left on device)")
        }
    }

    private companion object {
        const val TOLERANCE = 1e-5f
        const val FITTING = 10 // bytes
    }
}
