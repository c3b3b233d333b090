package kerasbert.screens

import java.nio.ByteBuffer
import kerasbert.core.file.ModelFile
import kerasbert.core.model.TextModel
import kerasbert.core.tasks.FewShotClassification
import kerasbert.core.tasks.taskOf
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

private const val TOLERANCE = 1e-6f

/** Taught labels become a file. */
class SavingTest {
    private val threads = StepThreads()
    private val engines = FakeEngines()
    private val store = MemoryStore()
    private val labels = listOf(TaughtLabel("fruit", listOf("an apple", "a plum")), TaughtLabel("color", listOf("dark red")))

    /** The screen with a model and labels. */
    private fun teach(labels: List<TaughtLabel> = this.labels) =
        TeachPresenter(threads, Models(TinyModels(listOf("vector.tflite", "label.tflite")), engines), store, labels).also {
            it.start()
            threads.finish()
            it.addSample()
            threads.finish()
        }

    private fun TeachPresenter.saved(name: String = "mine.tflite"): ByteArray = MemoryDestination(name).also {
        save(it)
        threads.finish()
        assertEquals(Saving.Done(name), state.saving)
    }.content!!

    private fun classes(file: ByteArray, text: String): List<LabelBar> {
        val model = ModelFile.of(ByteBuffer.wrap(file), "mine.tflite")
        val prediction = (taskOf(TextModel.open(model) { engines.open("mine.tflite", it, Accelerator.CPU) }) as FewShotClassification).classify(text)
        return prediction.classes.map { LabelBar(it.name, it.probability, it.name == prediction.label) }
    }

    private fun failure(presenter: TeachPresenter) = (presenter.state.saving as Saving.Failed).failure

    @Test
    fun `a saved file classifies as the screen does`() {
        val presenter = teach()
        for (text in listOf("a pear", "an apple", "light blue")) {
            presenter.write(text)
            threads.finish()
            val file = classes(presenter.saved(), text).sortedByDescending { it.probability }
            val bars = checkNotNull(presenter.state.bars)
            assertEquals(bars.map { Pair(it.name, it.isChosen) }, file.map { Pair(it.name, it.isChosen) })
            bars.zip(file) { bar, saved -> assertEquals(bar.probability, saved.probability, TOLERANCE) }
        }
    }

    @Test
    fun `labels are saved before a text was tried, and encoded once`() {
        val presenter = teach()
        presenter.saved()
        assertEquals(3, engines.runs)
        presenter.saved()
        assertEquals(3, engines.runs)
    }

    @Test
    fun `another file of the same name encodes the examples anew`() {
        val presenter = teach()
        presenter.saved()
        presenter.add("vector.tflite") { "vector.tflite" }
        threads.finish()
        presenter.saved()
        assertEquals(2 * 3, engines.runs)
    }

    @Test
    fun `while a file is made the screen says so, and the labels may change`() {
        val presenter = teach()
        val destination = MemoryDestination()
        assertTrue(presenter.state.canSave)
        presenter.save(destination)
        assertEquals(Saving.Running("mine.tflite"), presenter.state.saving)
        presenter.addLabel("shape")
        presenter.addExample("shape", "round")
        assertEquals("a change does not end it", Saving.Running("mine.tflite"), presenter.state.saving)
        threads.finish()
        assertEquals(Saving.Done("mine.tflite"), presenter.state.saving)
        assertEquals("the labels that she saw", listOf("fruit", "color"), ModelFile.of(ByteBuffer.wrap(destination.content!!), "mine.tflite").metadata.labels)
    }

    @Test
    fun `labels that change, or another model, are not the saved ones`() {
        val presenter = teach()
        presenter.saved()
        presenter.write("a pear")
        threads.finish()
        assertEquals("a text changes no label", Saving.Done("mine.tflite"), presenter.state.saving)
        presenter.addExample("color", "light blue")
        assertEquals(Saving.None, presenter.state.saving)
        presenter.saved()
        presenter.choose("vector.tflite")
        assertEquals(Saving.None, presenter.state.saving)
    }

    @Test
    fun `a file is saved twice`() {
        val presenter = teach()
        assertArrayEquals(presenter.saved("one.tflite"), presenter.saved("two.tflite"))
        val destinations = List(2) { MemoryDestination("$it.tflite") }
        destinations.forEach(presenter::save)
        threads.finish()
        for (destination in destinations) assertEquals(2, classes(destination.content!!, "a pear").size)
        assertEquals(Saving.Done("1.tflite"), presenter.state.saving)
    }

    @Test
    fun `a file that cannot be written is removed, and the next one is saved`() {
        val presenter = teach()
        presenter.write("a pear")
        threads.finish()
        val full = MemoryDestination(isFull = true)
        presenter.save(full)
        threads.finish()
        assertNull("the first bytes are gone", full.content)
        assertEquals(Failure(FailureKind.SAVING, "IOException: No space left on device"), failure(presenter))
        assertEquals(failure(presenter), presenter.state.problem)
        presenter.write("a plum")
        threads.finish()
        assertEquals("a text does not hide it", FailureKind.SAVING, presenter.state.problem?.kind)
        assertEquals("what was taught still works", 2, presenter.state.bars?.size)
        presenter.saved()
        assertNull(presenter.state.problem)
    }

    @Test
    fun `a file that cannot be made leaves nothing`() {
        val presenter = teach()
        engines.failure = OutOfMemoryError()
        val destination = MemoryDestination()
        presenter.save(destination)
        threads.finish()
        assertEquals(FailureKind.MEMORY, failure(presenter).kind)
        assertNull(destination.content)
    }

    @Test
    fun `one label makes no file`() {
        for (few in listOf(emptyList(), labels.take(1), labels.take(1) + TaughtLabel("color", emptyList()))) {
            store.entries.clear()
            val presenter = teach(few)
            assertFalse(presenter.state.canSave)
            val destination = MemoryDestination()
            presenter.save(destination)
            threads.finish()
            assertEquals(Failure(FailureKind.SAVING, "expected two labels with an example each, received fewer; add some"), failure(presenter))
            assertNull(destination.content)
        }
    }

    @Test
    fun `without a sentence encoder there is no file`() {
        val presenter = teach()
        presenter.choose("label.tflite")
        assertFalse("it is loading", presenter.state.canSave)
        threads.finish()
        assertFalse(presenter.state.canSave)
        val destination = MemoryDestination()
        presenter.save(destination)
        threads.finish()
        assertEquals("expected a sentence encoder that is loaded, received none; save again when it is", failure(presenter).detail)
        assertNull(destination.content)
    }
}
