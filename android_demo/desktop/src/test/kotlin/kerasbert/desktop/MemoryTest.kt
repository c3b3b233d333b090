package kerasbert.desktop

import java.io.File
import kerasbert.desktop.litert.JnaEngine
import org.junit.Assert.assertTrue
import org.junit.Assume.assumeTrue
import org.junit.Test

private const val PAGE = 4096L
private const val MEGABYTES = 1 shl 20
private const val MOST_GROWTH = 24L

/**
 * Native memory is freed: the resident memory of the process does not grow with the number of runs, or of models opened.
 *
 * The Java heap has all of its memory from the start (see pom.xml), so that only native memory grows.
 */
class MemoryTest {
    private val statistics = File("/proc/self/statm")

    private fun resident(): Long {
        repeat(3) { System.gc() }
        return statistics.readText().split(' ')[1].toLong() * PAGE / MEGABYTES
    }

    private fun inputs(length: Int, seed: Int) = mapOf(
        "input_ids" to IntArray(length) { (it * 7 + seed) % 40 },
        "attention_mask" to IntArray(length) { 1 },
        "token_type_ids" to IntArray(length),
    )

    private fun assertNoGrowth(what: String, first: Int, count: Int, use: (Int) -> Unit) {
        assumeTrue("reads /proc", statistics.isFile)
        repeat(first, use)
        val before = resident()
        repeat(count, use)
        val after = resident()
        println("$count $what: $before MB before, $after MB after")
        assertTrue("$count $what took ${after - before} MB", after - before < MOST_GROWTH)
    }

    @Test
    fun `fifty thousand runs`() {
        val library = libraryOrSkip()
        JnaEngine.open(File(modelsFolder, "label.tflite"), 1, library).use { engine ->
            assertNoGrowth("runs", 10_000, 50_000) { engine.run(if (it % 2 == 0) "serve_8" else "serve_16", inputs(if (it % 2 == 0) 8 else 16, it)) }
        }
    }

    @Test
    fun `twenty thousand changes of the length`() {
        val library = libraryOrSkip()
        JnaEngine.open(File(modelsFolder, "vector.tflite"), 1, library).use { engine ->
            assertNoGrowth("changes of the length", 1000, 20_000) { engine.run("serve", inputs(4 + it % 12, it)) }
        }
    }

    @Test
    fun `fifteen hundred models`() {
        val library = libraryOrSkip()
        assertNoGrowth("models", 400, 1500) { number ->
            JnaEngine.open(File(modelsFolder, "label.tflite"), 1, library).use { it.run("serve_8", inputs(8, number)) }
        }
    }
}
