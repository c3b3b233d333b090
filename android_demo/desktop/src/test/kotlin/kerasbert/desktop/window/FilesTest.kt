package kerasbert.desktop.window

import java.io.File
import java.io.IOException
import java.nio.file.Files
import kerasbert.core.KerasBertException
import kerasbert.desktop.modelsFolder
import kerasbert.screens.Models
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

/** What the window reads and writes. */
class FilesTest {
    @get:Rule
    val folder = TemporaryFolder()

    @Test
    fun `an entry is written as a whole`() {
        val store = FileStore(File(folder.root, "new/store").toPath())
        assertNull(store.read("labels"))
        for (content in listOf(byteArrayOf(1, 2, 3), byteArrayOf(4), ByteArray(0))) {
            store.write("labels", content)
            assertArrayEquals(content, store.read("labels"))
        }
        assertEquals(listOf("labels"), File(folder.root, "new/store").list().orEmpty().toList())
    }

    @Test
    fun `a failure leaves the earlier entries and nothing else`() {
        val store = FileStore(folder.root.toPath())
        File(folder.root, "labels/full").mkdirs() // a folder with files cannot be replaced
        assertThrows(IOException::class.java) { store.write("labels", byteArrayOf(1)) }
        assertEquals(listOf("labels"), folder.root.list().orEmpty().toList())
        val file = folder.newFile("a file")
        assertThrows(IOException::class.java) { FileStore(file.toPath()).write("labels", byteArrayOf(1)) }
    }

    @Test
    fun `the default folder follows XDG_DATA_HOME where it is absolute`() {
        assertEquals("/data/kerasbert-demo", FileStore.defaultFolder(mapOf("XDG_DATA_HOME" to "/data"), "/home/me").toString())
        for (variables in listOf(emptyMap(), mapOf("XDG_DATA_HOME" to ""), mapOf("XDG_DATA_HOME" to "data"))) {
            assertEquals("/home/me/.local/share/kerasbert-demo", FileStore.defaultFolder(variables, "/home/me").toString())
        }
    }

    private fun saved(file: File, models: FileModels = FileModels(emptyList())) =
        SavedFile(file, file.exists(), models, Models(models, CpuEngines(models, 1, null)))

    @Test
    fun `a saved file is there as a whole, and replaces one with consent only`() {
        val file = File(folder.root, "mine.tflite")
        val late = saved(file)
        saved(file).write(byteArrayOf(1, 2, 3))
        assertThrows(IOException::class.java) { late.write(byteArrayOf(4)) } // it came after the question
        assertArrayEquals(byteArrayOf(1, 2, 3), file.readBytes())
        saved(file).write(byteArrayOf(4))
        assertArrayEquals(byteArrayOf(4), file.readBytes())
        val full = File(folder.root, "full.tflite").apply { resolve("of others").mkdirs() }
        assertThrows(IOException::class.java) { saved(full).write(byteArrayOf(1)) }
        assertThrows(IOException::class.java) { saved(File(folder.root, "none/mine.tflite")).write(byteArrayOf(1)) }
        assertEquals(listOf("full.tflite", "mine.tflite"), folder.root.list().orEmpty().sorted())
    }

    @Test
    fun `a saved file may be read by those who may read other new ones`() {
        val (file, other) = listOf("mine.tflite", "other.tflite").map { File(folder.root, it).toPath() }
        saved(file.toFile()).write(byteArrayOf(1))
        Files.write(other, byteArrayOf(1))
        assertEquals(Files.getPosixFilePermissions(other), Files.getPosixFilePermissions(file))
    }

    @Test
    fun `taught labels that are opened are replaced and read anew, and encoders stay`() {
        val (taught, encoder, other) = listOf("taught", "vector", "label").map { File(modelsFolder, "$it.tflite").copyTo(File(folder.root, "$it.tflite")) }
        val source = FileModels(listOf(taught, encoder))
        val models = Models(source, CpuEngines(source, 1, null))
        assertEquals("few_shot", models.file("taught.tflite").metadata.type.key)
        SavedFile(taught, true, source, models).write(other.readBytes())
        assertEquals("single_label", models.file("taught.tflite").metadata.type.key)
        val through = File(folder.newFolder(), "../vector.tflite")
        val refusal = assertThrows(KerasBertException::class.java) { SavedFile(through, true, source, models).write(byteArrayOf(1)) }
        assertTrue(refusal.message.orEmpty(), "none of the opened models" in refusal.message.orEmpty())
        assertArrayEquals(File(modelsFolder, "vector.tflite").readBytes(), encoder.readBytes())
    }

    @Test
    fun `models of one name do not hide each other`() {
        val label = File(modelsFolder, "label.tflite")
        val models = FileModels(listOf(label))
        assertEquals("label.tflite", models.add(label))
        val other = label.copyTo(folder.newFolder().resolve("label.tflite"))
        assertEquals(listOf("label (2).tflite", "label (2).tflite"), List(2) { models.add(other) })
        assertEquals(listOf("label.tflite", "label (2).tflite"), models.names())
        assertEquals(listOf(label, other), models.names().map(models::fileOf))
        assertEquals("single_label", models.read("label (2).tflite").metadata.type.key)
        val refusal = assertThrows(KerasBertException::class.java) { FileModels(listOf(label, other)) }
        assertTrue(refusal.message.orEmpty(), "models of different names" in refusal.message.orEmpty())
    }

    @Test
    fun `other files are not added`() {
        val models = FileModels(emptyList())
        assertThrows(KerasBertException::class.java) { models.add(File(modelsFolder, "predictions.json")) }
        assertThrows(KerasBertException::class.java) { models.add(File(folder.root, "none.tflite")) }
        assertEquals(emptyList<String>(), models.names())
    }

    @Test
    fun `sample phrases are those of the assistant data, each once`() {
        val data = File("../../kerasbert/data/assistant")
        val phrases = samplePhrases(data)
        assertTrue("${phrases.size}", phrases.size > 1000 && phrases.toSet().size == phrases.size)
        for (part in listOf("train", "dev", "test")) folder.newFile("$part.jsonl").writeText("{\"text\": \"both\"}\n{\"text\": \"$part\"}\n")
        assertEquals(listOf("both", "train", "dev", "test"), samplePhrases(folder.root))
        assertTrue(data.resolve("train.jsonl").useLines { it.first() }.contains(phrases.first()))
        assertTrue(assertThrows(KerasBertException::class.java) { samplePhrases(File(folder.root, "none")) }.message.orEmpty().startsWith("expected sample phrases"))
        assertTrue(sampleLabels().size >= 2 && sampleLabels().all { it.examples.size in 3..8 })
    }
}
