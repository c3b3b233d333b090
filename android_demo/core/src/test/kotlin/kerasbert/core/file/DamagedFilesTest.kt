package kerasbert.core.file

import java.io.File
import java.nio.ByteBuffer
import java.util.Random
import kerasbert.core.KerasBertException
import kerasbert.core.modelsFolder
import org.junit.Assert.assertTrue
import org.junit.Test

/** Random damage. Set `-Dkerasbert.fuzz=N` for N damaged files of each kind, and `-Dkerasbert.fuzz.folder` for other models. */
class DamagedFilesTest {
    private val count = Integer.getInteger("kerasbert.fuzz", 400)
    private val files = File(System.getProperty("kerasbert.fuzz.folder") ?: modelsFolder.path).listFiles { file -> file.extension == "tflite" }!!

    @Test(timeout = 3_600_000)
    fun `only answers and our errors come out of damaged files`() {
        assertTrue(files.isNotEmpty())
        for (file in files.sorted()) {
            val content = file.readBytes()
            val draw = Random(file.name.hashCode().toLong())
            for ((kind, damage) in KINDS) {
                var refused = 0
                repeat(count) { if (!isRead(damage(content, draw), "${file.name}, $kind, number $it")) refused++ }
                println("${file.name}: $refused of $count files with $kind were refused")
                assertTrue("expected some files with $kind to be refused, received none of ${file.name}", refused > 0)
            }
        }
    }

    private fun isRead(content: ByteArray, name: String): Boolean {
        val start = System.nanoTime()
        try {
            ModelFile.of(ByteBuffer.wrap(content), name)
            return true
        } catch (_: KerasBertException) {
            return false
        } catch (error: Throwable) {
            throw AssertionError("$name: $error", error)
        } finally {
            val seconds = (System.nanoTime() - start) / 1e9
            assertTrue("$name took $seconds s", seconds < 10)
        }
    }

    private companion object {
        val KINDS: Map<String, (ByteArray, Random) -> ByteArray> = mapOf(
            "an end" to { content, draw -> content.copyOf(draw.nextInt(content.size)) },
            "a changed byte in the graph" to { content, draw -> changed(content, draw, 1, 0, archiveStart(content)) },
            "changed bytes in the archive" to { content, draw -> changed(content, draw, 3, archiveStart(content), content.size) },
            "changed bytes" to { content, draw -> changed(content, draw, 1 + draw.nextInt(50), 0, content.size) },
            "a large number" to { content, draw -> large(content, draw) },
            "a part twice" to { content, draw ->
                val (from, to) = draw.nextInt(content.size) to draw.nextInt(content.size)
                content.copyOf(maxOf(from, to)) + content.copyOfRange(minOf(from, to), content.size)
            },
        )

        fun changed(content: ByteArray, draw: Random, count: Int, from: Int, to: Int): ByteArray {
            val copy = content.clone()
            repeat(count) { copy[from + draw.nextInt(to - from)] = draw.nextInt().toByte() }
            return copy
        }

        fun large(content: ByteArray, draw: Random): ByteArray {
            val copy = content.clone()
            val values = intArrayOf(-1, Int.MAX_VALUE, Int.MIN_VALUE, 0x00FF_FFFF, 0)
            ByteBuffer.wrap(copy).putInt(draw.nextInt(content.size - 4), values[draw.nextInt(values.size)])
            return copy
        }
    }
}
