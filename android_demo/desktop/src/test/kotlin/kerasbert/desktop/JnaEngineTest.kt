package kerasbert.desktop

import java.io.File
import kerasbert.core.KerasBertException
import kerasbert.desktop.litert.JnaEngine
import kerasbert.desktop.litert.LiteRtLibrary
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertSame
import org.junit.Assert.assertTrue
import org.junit.Assert.fail
import org.junit.Test

class JnaEngineTest {
    private fun open(name: String, threads: Int = 1) = JnaEngine.open(File(modelsFolder, name), threads, libraryOrSkip())

    private fun inputs(length: Int, ids: IntArray) = mapOf(
        "input_ids" to ids.copyOf(length),
        "attention_mask" to IntArray(length) { if (it < ids.size) 1 else 0 },
        "token_type_ids" to IntArray(length),
    )

    private fun assertRefused(part: String, block: () -> Unit) {
        try {
            block()
        } catch (error: KerasBertException) {
            assertTrue("expected '$part' in: ${error.message}", part in error.message.orEmpty())
            return
        }
        fail("expected a refusal with '$part'")
    }

    @Test
    fun `signatures of several lengths give one answer, in any order`() = open("label.tflite").use { engine ->
        val ids = intArrayOf(2, 5, 9, 3)
        val short = engine.run("serve_8", inputs(8, ids)).getValue("probabilities")
        val long = engine.run("serve_16", inputs(16, ids)).getValue("probabilities")
        assertEquals(1.0, short.sum().toDouble(), 1e-5)
        assertArrayEquals(short, long, 1e-5f)
        assertArrayEquals(short, engine.run("serve_8", inputs(8, ids)).getValue("probabilities"), 0f)
        val other = engine.run("serve_8", inputs(8, intArrayOf(2, 6, 3))).getValue("probabilities")
        assertFalse(other.contentEquals(short))
    }

    @Test
    fun `a resizable file runs at any length`() = open("vector.tflite").use { engine ->
        val ids = intArrayOf(2, 5, 9, 3)
        val vectors = listOf(16, 8, 5, 16).map { engine.run("serve", inputs(it, ids)).getValue("embedding") }
        assertEquals(16, vectors[0].size)
        for (vector in vectors) assertArrayEquals(vectors[0], vector, 1e-5f)
    }

    @Test
    fun `outputs of each token have the length of the row`() = open("tags.tflite").use { engine ->
        assertEquals(16 * 5, engine.run("serve", inputs(16, intArrayOf(2, 5, 3))).getValue("probabilities").size)
    }

    @Test
    fun `several threads give the same answer`() {
        val ids = intArrayOf(2, 5, 9, 3)
        val one = open("label.tflite").use { it.run("serve_16", inputs(16, ids)).getValue("probabilities") }
        open("label.tflite", threads = 2).use { engine ->
            assertArrayEquals(one, engine.run("serve_16", inputs(16, ids)).getValue("probabilities"), 1e-6f)
            assertTrue(engine.title, engine.title.startsWith("LiteRT 2.") && "2 threads" in engine.title)
        }
    }

    @Test
    fun `what the model does not take is refused`() = open("label.tflite").use { engine ->
        assertRefused("a signature among serve_") { engine.run("serve", inputs(16, intArrayOf(2))) }
        assertRefused("expected the inputs") { engine.run("serve_8", mapOf("input_ids" to IntArray(8))) }
        assertRefused("expected 8 values of") { engine.run("serve_8", inputs(9, intArrayOf(2))) }
        assertRefused("at least one thread") { open("label.tflite", threads = 0) }
    }

    @Test
    fun `a closed engine does not run, and closes once`() {
        val engine = open("label.tflite")
        engine.run("serve_8", inputs(8, intArrayOf(2)))
        engine.close()
        engine.close()
        assertRefused("one that was closed") { engine.run("serve_8", inputs(8, intArrayOf(2))) }
    }

    @Test
    fun `the library is loaded once, since one that is unloaded crashes the end of the process`() {
        val path = libraryOrSkip()
        assertSame(LiteRtLibrary.load(path), LiteRtLibrary.load(path))
    }

    @Test
    fun `a missing library, a missing file and another file are refused`() {
        assertRefused("expected libLiteRt.so") { JnaEngine.open(File(modelsFolder, "label.tflite"), 1, "/none/libLiteRt.so") }
        assertRefused("expected LiteRT to load") { open("none.tflite") }
        assertRefused("expected LiteRT to load") { open("predictions.json") }
    }
}
