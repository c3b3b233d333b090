package kerasbert.core.search

import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.zip.ZipFile
import kerasbert.core.assertRefused
import kerasbert.core.file.Base64Bytes
import kerasbert.core.file.ModelFile
import kerasbert.core.file.PackedFiles
import kerasbert.core.file.TaskType
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

private const val EXAMPLES = 3

class TaughtFileTest {
    @get:Rule
    val folder = TemporaryFolder()

    private val encoder = File(System.getProperty("kerasbert.testdata") ?: "../testdata", "models/vector.tflite").readBytes()
    private val before = ModelFile.of(ByteBuffer.wrap(encoder), "vector.tflite").metadata
    private val width = (before.settings["width"] as Long).toInt()

    private fun classes(width: Int = this.width, names: List<String> = listOf("alarm", "musique é")) = TaughtClasses(width).apply {
        for (example in 0 until EXAMPLES) {
            for ((number, name) in names.withIndex()) {
                add(name, "$name $example", FloatArray(width) { Math.sin((example + 7 * number + it).toDouble()).toFloat() + number })
            }
        }
        addClass("without examples")
    }

    private fun taught(classes: TaughtClasses = classes()) = taughtFile(ByteBuffer.wrap(encoder), "vector.tflite", classes)

    @Test
    fun `a file has the graph of the encoder, and the labels and the layer beside it`() {
        val classes = classes()
        val file = taught(classes)
        val start = PackedFiles(ByteBuffer.wrap(encoder), "vector.tflite").start()
        assertArrayEquals(encoder.copyOf(start), file.copyOf(start))
        val metadata = ModelFile.of(ByteBuffer.wrap(file), "mine.tflite").metadata
        assertEquals(TaskType.FEW_SHOT, metadata.type)
        assertEquals(listOf("alarm", "musique é"), metadata.labels)
        assertEquals(before.vocabulary, metadata.vocabulary)
        assertEquals(classes.layer.method, metadata.settings["method"] ?: "centre")
        val floats = ByteBuffer.wrap(Base64Bytes.decode(metadata.settings["layer"] as String)).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()
        val layer = FloatArray(floats.limit()).also(floats::get)
        assertArrayEquals(classes.layer.table.map { it.toFloat() }.toFloatArray(), layer, 0f)
    }

    @Test
    fun `another program opens the archive`() {
        val path = folder.newFile("mine.zip").apply { writeBytes(taught()) }
        ZipFile(path).use { archive ->
            assertEquals(listOf("kerasbert.json", "vocab.txt", "labels.txt"), archive.entries().toList().map { it.name })
            assertEquals("alarm\nmusique é\n", archive.getInputStream(archive.getEntry("labels.txt")).readBytes().decodeToString())
        }
    }

    @Test
    fun `a class that was taught has no prompt where the encoder has none`() {
        assertNull(ModelFile.of(ByteBuffer.wrap(taught()), "mine.tflite").metadata.settings["prompt"])
    }

    @Test
    fun `what makes no file is refused`() {
        val label = File(System.getProperty("kerasbert.testdata") ?: "../testdata", "models/label.tflite").readBytes()
        assertRefused("a sentence encoder") { taughtFile(ByteBuffer.wrap(label), "label.tflite", classes()) }
        assertRefused("vectors of $width numbers") { taught(classes(width + 1)) }
        assertRefused("names of one line") { taught(classes(names = listOf("a\nb", "c"))) }
        assertRefused("at least two classes") { taught(TaughtClasses(width)) }
    }
}
