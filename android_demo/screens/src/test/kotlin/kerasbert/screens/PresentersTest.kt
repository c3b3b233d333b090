package kerasbert.screens

import kerasbert.core.KerasBertException
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

class PresentersTest {
    private val threads = StepThreads()
    private val engines = FakeEngines()
    private val store = MemoryStore()

    private fun models(vararg names: String) = Models(TinyModels(names.toList()), engines)

    @Test
    fun `the first model that fits is chosen, and a broken one is left out`() {
        val presenter = ClassifyPresenter(threads, models("vector.tflite", TinyModels.BROKEN, "tags.tflite", "label.tflite"))
        presenter.start()
        threads.finish()
        assertEquals("label.tflite", (presenter.state.model as ModelState.Ready).entry.name)
    }

    @Test
    fun `without a model that fits the screen says so`() {
        val presenter = SearchPresenter(threads, models("label.tflite"), store) { listOf("a") }
        presenter.start()
        threads.finish()
        assertEquals(FailureKind.NO_MODEL, (presenter.state.model as ModelState.Failed).failure.kind)
    }

    @Test
    fun `a model for another task is refused`() {
        val presenter = TeachPresenter(threads, models("label.tflite"), store, emptyList())
        presenter.choose("label.tflite")
        threads.finish()
        assertEquals(FailureKind.OTHER_TASK, (presenter.state.model as ModelState.Failed).failure.kind)
    }

    @Test
    fun `of several texts only the newest is predicted`() {
        val presenter = classify()
        for (text in listOf("a", "ab", "abc")) presenter.write(text)
        val before = engines.runs
        threads.finish()
        assertEquals("abc", presenter.state.classified?.text)
        assertEquals(1, engines.runs - before)
        assertFalse(presenter.state.isRunning)
    }

    @Test
    fun `a blank text has no result`() {
        val presenter = classify()
        presenter.write("abc")
        threads.finish()
        presenter.write("  ")
        assertNull(presenter.state.classified)
    }

    @Test
    fun `a text that came before the model is predicted when it is ready`() {
        val presenter = ClassifyPresenter(threads, models("label.tflite"))
        presenter.start()
        presenter.write("abc")
        threads.finish()
        assertEquals("abc", presenter.state.classified?.text)
    }

    @Test
    fun `a failure is shown, and the next text works`() {
        val presenter = classify()
        engines.failure = OutOfMemoryError()
        presenter.write("abc")
        threads.finish()
        assertEquals(FailureKind.MEMORY, presenter.state.failure?.kind)
        engines.failure = null
        presenter.write("abcd")
        threads.finish()
        assertNull(presenter.state.failure)
        assertNotNull(presenter.state.classified)
    }

    @Test
    fun `the tokens of a text are shown on demand`() {
        val presenter = classify()
        presenter.write("abc")
        threads.finish()
        assertNull(presenter.state.tokens)
        presenter.showTokens(true)
        threads.finish()
        assertEquals("[CLS]", presenter.state.tokens?.first())
        presenter.showTokens(false)
        assertNull(presenter.state.tokens)
    }

    @Test
    fun `entities are parts of the text`() {
        val presenter = ClassifyPresenter(threads, models("tags.tflite"))
        presenter.start()
        val text = "the cat sat on the mat"
        presenter.write(text)
        threads.finish()
        val found = presenter.state.classified?.result as TextResult.Highlights
        assertTrue(found.highlights.all { it.start < it.end && it.end <= text.length })
    }

    @Test
    fun `at most two models stay open, and short memory closes all but one`() {
        val models = models("label.tflite", "tags.tflite", "vector.tflite")
        for (name in listOf("label.tflite", "tags.tflite", "vector.tflite")) models.task(name, Accelerator.CPU)
        assertEquals(1, engines.closed)
        models.trim()
        assertEquals(2, engines.closed)
        models.task("vector.tflite", Accelerator.CPU)
        assertEquals("the most recent one stayed open", 3, engines.opened)
    }

    @Test
    fun `a question is answered with a part of the text`() {
        val presenter = AskPresenter(threads, models("answer.tflite", "vector.tflite"))
        presenter.start()
        threads.finish()
        presenter.writeText("the cat sat on the mat. the dog ran.")
        presenter.writeQuestion("who sat?")
        presenter.ask()
        threads.finish()
        val answered = checkNotNull(presenter.state.answered)
        (answered.answer as? TextAnswer.Spans)?.parts?.forEach { assertEquals(answered.text.substring(it.start, it.end), it.text) }
        presenter.writeText("another text")
        assertNull("the answer was to another text", presenter.state.answered)
    }

    @Test
    fun `where only vectors are there, sentences answer, and each is encoded once`() {
        val presenter = AskPresenter(threads, models("vector.tflite"))
        presenter.start()
        threads.finish()
        presenter.writeText("The cat sat.  The dog ran!\nThe end")
        presenter.writeQuestion("who sat?")
        presenter.ask()
        threads.finish()
        val sentences = (presenter.state.answered?.answer as TextAnswer.Sentences).parts.map { it.text }.sorted()
        assertEquals(listOf("The cat sat.", "The dog ran!", "The end"), sentences)
        val runs = engines.runs
        presenter.writeQuestion("who ran?")
        presenter.ask()
        threads.finish()
        assertEquals("only the question", 1, engines.runs - runs)
    }

    @Test
    fun `imported texts are searched, kept, and found again`() {
        val presenter = search()
        assertEquals(Corpus("", 2, presenter.state.corpus?.bytes ?: 0), presenter.state.corpus)
        presenter.import("mine.txt") { "the film\nthe song\nthe river\n".toByteArray() }
        threads.finish()
        assertEquals(3, presenter.state.corpus?.count)
        presenter.write("the song")
        threads.finish()
        assertEquals("the song", presenter.state.matches.first().text)
        assertEquals("mine.txt", search().state.corpus?.name)
    }

    @Test
    fun `a canceled import leaves the texts before`() {
        val presenter = search()
        presenter.import("mine.txt") { "the film\nthe song\nthe river\n".toByteArray() }
        threads.step()
        assertTrue("building", presenter.state.total > 0)
        presenter.cancel()
        threads.finish()
        assertEquals(2, presenter.state.corpus?.count)
        assertEquals(0, presenter.state.total)
        assertTrue(store.entries.isEmpty())
    }

    @Test
    fun `texts that cannot be stored are searched all the same`() {
        val presenter = search()
        store.isFull = true
        presenter.import("mine.txt") { "the film\nthe song\nthe river\n".toByteArray() }
        threads.finish()
        assertEquals(3, presenter.state.corpus?.count)
        assertEquals(FailureKind.STORAGE, presenter.state.failure?.kind)
    }

    @Test
    fun `an index is searched without encoding its texts, and kept`() {
        search().also {
            it.import("mine.txt") { "the film\nthe song\nthe river\n".toByteArray() }
            threads.finish()
        }
        val bytes = store.entries.getValue("search-index")
        store.entries.clear()
        val presenter = search()
        presenter.import("notes.KBINDEX") { bytes }
        threads.finish()
        assertEquals(Corpus("notes.KBINDEX", 3, presenter.state.corpus!!.bytes), presenter.state.corpus)
        assertArrayEquals(bytes, store.entries.getValue("search-index"))
        presenter.import("broken.kbindex") { bytes.copyOf(bytes.size - 1) }
        threads.finish()
        assertEquals(FailureKind.UNREADABLE_INDEX, presenter.state.failure?.kind)
        assertEquals("what was searched stays", 3, presenter.state.corpus?.count)
        assertEquals(0, presenter.state.total)
    }

    @Test
    fun `a table asks for its column`() {
        val presenter = search()
        presenter.import("mine.csv") { "id,text\n1,the cat\n2,the dog\n".toByteArray() }
        threads.finish()
        assertEquals(1, presenter.state.choice?.likeliest)
        presenter.chooseColumn(null)
        threads.finish()
        assertEquals("nothing was imported", 2, presenter.state.corpus?.count)
        assertNull(presenter.state.choice)
    }

    @Test
    fun `labels are taught, kept, and forgotten`() {
        val presenter = teach()
        presenter.addLabel(" fruit ")
        presenter.addLabel("fruit")
        presenter.addLabel("color")
        presenter.addExample("fruit", "an apple")
        presenter.addExample("fruit", "an apple")
        presenter.write("a pear")
        threads.finish()
        assertNull("one label has no example", presenter.state.bars)
        presenter.addExample("color", "dark red")
        threads.finish()
        assertEquals(2, presenter.state.bars?.size)
        assertEquals(1f, presenter.state.bars?.sumOf { it.probability.toDouble() }?.toFloat())
        assertEquals(listOf(TaughtLabel("fruit", listOf("an apple")), TaughtLabel("color", listOf("dark red"))), teach().state.labels)
        presenter.removeExample("fruit", "an apple")
        presenter.removeLabel("color")
        threads.finish()
        assertEquals(listOf(TaughtLabel("fruit", emptyList())), teach().state.labels)
    }

    @Test
    fun `a sample does not replace the person's own examples`() {
        val presenter = teach(listOf(TaughtLabel("fruit", listOf("a plum"))))
        presenter.addLabel("fruit")
        presenter.addExample("fruit", "an apple")
        presenter.addSample()
        assertEquals(listOf(TaughtLabel("fruit", listOf("an apple", "a plum"))), presenter.state.labels)
    }

    @Test
    fun `an accelerator is compared with the CPU`() {
        val own = FakeEngines(listOf(Accelerator.CPU, Accelerator.GPU))
        own.wrongOn = Accelerator.GPU
        var chosen: Accelerator? = null
        val presenter = SpeedPresenter(threads, Models(TinyModels(listOf("label.tflite")), own), { listOf("a film", "a good book", "the river") }) { chosen = it }
        presenter.start()
        threads.finish()
        presenter.measure()
        threads.finish()
        assertNull("nothing to compare the CPU with", presenter.state.report?.same)
        assertEquals(50, presenter.state.report?.latency?.runs)
        presenter.chooseAccelerator(Accelerator.GPU)
        threads.finish()
        presenter.measure()
        threads.finish()
        assertEquals(Accelerator.GPU, chosen)
        assertEquals(3, presenter.state.report?.compared)
        assertNotEquals("the fake GPU gives other outputs", 3, presenter.state.report?.same)
        assertEquals("models of a measurement are closed", 3, own.closed)
    }

    @Test
    fun `an engine that is refused is an error, and not another accelerator`() {
        engines.failure = KerasBertException("expected a GPU, received none")
        val presenter = classifyWithoutWaiting()
        threads.finish()
        val failed = presenter.state.model as ModelState.Failed
        assertEquals(Failure(FailureKind.ENGINE, "expected a GPU, received none"), failed.failure)
        assertEquals(0, engines.opened)
    }

    private fun classifyWithoutWaiting() = ClassifyPresenter(threads, models("label.tflite")).also { it.choose("label.tflite") }

    private fun classify() = classifyWithoutWaiting().also { threads.finish() }

    private fun search() = SearchPresenter(threads, models("vector.tflite"), store) { listOf("a film", "a book") }.also {
        it.start()
        threads.finish()
    }

    private fun teach(sample: List<TaughtLabel> = emptyList()) = TeachPresenter(threads, models("vector.tflite"), store, sample).also {
        it.start()
        threads.finish()
    }
}
