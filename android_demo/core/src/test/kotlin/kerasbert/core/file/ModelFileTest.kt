package kerasbert.core.file

import java.io.ByteArrayOutputStream
import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.zip.CRC32
import java.util.zip.ZipEntry
import java.util.zip.ZipOutputStream
import kerasbert.core.assertRefused
import kerasbert.core.modelsFolder
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

class ModelFileTest {
    private val content = File(modelsFolder, "label.tflite").readBytes()
    private val graph = content.copyOf(archiveStart(content)) // the FlatBuffer without what is packed behind it
    private val description = unpacked(content).getValue("kerasbert.json")

    @Test
    fun `metadata, labels and signatures of a file are read`() {
        val file = ModelFile.open(File(modelsFolder, "label.tflite"))
        assertEquals(content.size, file.bytes)
        assertEquals(TaskType.SINGLE_LABEL, file.metadata.type)
        assertEquals(listOf("negative", "positive", "neither"), file.metadata.labels)
        assertEquals(listOf(8, 16), file.metadata.lengths)
        assertEquals(16, file.metadata.sequenceLength)
        assertEquals("serve_16", file.metadata.signature)
        assertEquals("[PAD]", file.metadata.vocabulary!![0])
        assertTrue("\uD83D\uDE00" in file.metadata.vocabulary)
        assertEquals("float32", file.metadata.recipe)
        assertEquals(setOf("serve_8", "serve_16"), file.signatures.map { it.name }.toSet())
        val signature = file.signatures.first { it.name == "serve_8" }
        assertEquals(setOf("input_ids", "attention_mask", "token_type_ids"), signature.inputs.keys)
        assertEquals("input_ids int32[1, 8]", signature.inputs.getValue("input_ids").toString())
        assertEquals("probabilities float32[1, 3]", signature.outputs.getValue("probabilities").toString())
        assertEquals("2.9.0".substringBefore('.'), file.minRuntime!!.substringBefore('.'))
    }

    @Test
    fun `every type of task of Python is one here`() {
        assertEquals(TASK_FORMS.keys, TaskType.entries.map { it.key }.toSet())
    }

    @Test
    fun `an open length is -1, and settings are those of the task`() {
        val vector = ModelFile.open(File(modelsFolder, "vector.tflite"))
        assertNull(vector.metadata.sequenceLength)
        assertEquals(16, vector.metadata.rowLength)
        assertEquals(listOf(1, -1), vector.signatures[0].inputs.getValue("input_ids").shape)
        assertNull(vector.metadata.labels)
        val answer = ModelFile.open(File(modelsFolder, "answer.tflite")).metadata
        assertEquals(true, answer.settings["no_answer"])
        assertEquals(6L, answer.settings["longest_answer"])
        assertEquals(null, answer.lengths)
    }

    @Test
    fun `what is no model is refused`() {
        assertRefused("which is not there") { ModelFile.open(File(modelsFolder, "none.tflite")) }
        assertRefused("which is a folder") { ModelFile.open(modelsFolder) }
        assertRefused("identifier TFL3") { open(ByteArray(0)) }
        assertRefused("identifier TFL3") { open("PK\u0003\u0004 a zip file".toByteArray()) }
        assertRefused("without it; convert the model") { open(graph) }
    }

    @Test
    fun `a file that is cut anywhere is refused`() {
        for (size in 0 until content.size step 61) assertRefused("expected") { open(content.copyOf(size)) }
        assertRefused("cut short") { open(content.copyOf(content.size - 10)) }
        assertRefused("cut short") { open(content + ByteArray(100_000)) }
    }

    @Test
    fun `bytes before the archive's end may not hide it`() {
        // A comment of the archive is allowed by the format, and none that kerasbert writes.
        val comment = "hello".toByteArray()
        val commented = content + comment
        commented[content.size - 2] = comment.size.toByte()
        assertEquals(3, open(commented).metadata.labels!!.size)
    }

    @Test
    fun `archives that kerasbert does not write are refused`() {
        assertRefused("a packed file '../../vocab.txt'") { open(packed("kerasbert.json" to description, "../../vocab.txt" to "a")) }
        assertRefused("17 packed files") { open(packed("kerasbert.json" to description, *Array(16) { "f$it" to "" })) }
        assertRefused("a compressed kerasbert.json") { open(packed("kerasbert.json" to description, method = ZipEntry.DEFLATED)) }
        assertRefused("without it") { open(packed("other.txt" to "a")) }
        assertRefused("vocab.txt of 33554433 bytes") { open(packed("kerasbert.json" to description, "vocab.txt" to "a".repeat((32 shl 20) + 1))) }
        assertRefused("the same packed file twice") {
            open(renamed(packed("kerasbert.json" to description, "labels.txt" to "a\n", "labelz.txt" to "b\n"), "labelz.txt", "labels.txt"))
        }
        assertRefused("its checksum is wrong") { open(renamed(packed("kerasbert.json" to description), "\"task\"", "\"tusk\"")) }
        assertRefused("it is not UTF-8") { open(packedBytes("kerasbert.json" to byteArrayOf('"'.code.toByte(), 0xFF.toByte()))) }
    }

    @Test
    fun `a size of 4 GB in an archive takes no memory`() {
        for (place in listOf(20, 24, 42)) {
            val bytes = packed("kerasbert.json" to description)
            val entry = find(bytes, byteArrayOf(0x50, 0x4B, 1, 2))
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(entry + place, -1)
            assertRefused("expected kerasbert metadata") { open(bytes) }
        }
        val longer = packed("kerasbert.json" to description)
        val entry = find(longer, byteArrayOf(0x50, 0x4B, 1, 2))
        for (place in listOf(20, 24)) ByteBuffer.wrap(longer).order(ByteOrder.LITTLE_ENDIAN).putInt(entry + place, 1_000_000)
        assertRefused("it is longer than the file") { open(longer) }
        val bytes = packed("kerasbert.json" to description)
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.size - 22 + 12, -1)
        assertRefused("a directory outside the file") { open(bytes) }
    }

    @Test
    fun `descriptions that do not fit are refused`() {
        assertRefused("metadata of format 2") { open(changed("\"format\": 1", "\"format\": 2")) }
        assertRefused("is not JSON") { open(changed("{", "{{")) }
        assertRefused("not a JSON object") { open(packed("kerasbert.json" to "[1]")) }
        assertRefused("problem 'poetry'") { open(changed("\"single_label\"", "\"poetry\"")) }
        assertRefused("'task' = 5") { open(changed("\"TextClassifier\"", "5")) }
        assertRefused("sequence_length 0") { open(changed("\"sequence_length\": 16", "\"sequence_length\": 0")) }
        assertRefused("'sequence_length' = true") { open(changed("\"sequence_length\": 16", "\"sequence_length\": true")) }
        assertRefused("lengths [8, 8]") { open(changed("8,\n    16", "8,\n    8")) }
        assertRefused("lengths [16, 8]") { open(changed("8,\n    16", "16,\n    8")) }
        assertRefused("exits [2, 2]") { open(changed("\"recipe\"", "\"exits\": [2, 2], \"recipe\"")) }
        assertRefused("exits [4]") { open(changed("\"recipe\"", "\"exits\": [4], \"recipe\"")) }
        assertRefused("exits [0, 2]") { open(changed("\"recipe\"", "\"exits\": [0, 2], \"recipe\"")) }
        assertRefused("'exit_threshold' = 2") { open(changed("\"recipe\"", "\"exit_threshold\": 2, \"recipe\"")) }
        assertRefused("'exit_threshold' = \"high\"") { open(changed("\"recipe\"", "\"exit_threshold\": \"high\", \"recipe\"")) }
        assertRefused("the setting 'stride'") { open(changed("\"settings\": {}", "\"settings\": {\"stride\": 4}")) }
        assertRefused("'vocab_size' = -1") { open(changed("\"vocab_size\": 45", "\"vocab_size\": -1")) }
        assertRefused("a vocabulary of") { open(changed("\"vocab_size\": 45", "\"vocab_size\": 9999")) }
        assertRefused("a vocabulary of") { open(changed("\"vocab_size\": 45", "\"vocab_size\": 9")) }
        assertRefused("inputs 'sound'") { open(changed("\"recipe\"", "\"inputs\": \"sound\", \"recipe\"")) }
        assertRefused("an empty labels.txt") { open(packed("kerasbert.json" to description, "labels.txt" to "")) }
    }

    @Test
    fun `prompts are checked`() {
        fun prompted(settings: String) = open(
            packed("kerasbert.json" to description.replace("\"single_label\"", "\"embedding\"").replace("\"settings\": {}", "\"settings\": $settings")),
        ).metadata.settings
        val settings = "{\"prompts\": {\"query\": \"q: \"}, \"default_prompt_name\": \"query\"}"
        assertEquals(mapOf("prompts" to mapOf("query" to "q: "), "default_prompt_name" to "query"), prompted(settings))
        assertRefused("as 'prompts'") { prompted("{\"prompts\": [\"q: \"]}") }
        assertRefused("as 'prompts'") { prompted("{\"prompts\": {\"query\": 3}}") }
        assertRefused("as 'prompts'") { prompted("{\"prompts\": {\"query\": \"${"x".repeat(10_001)}\"}}") }
        assertRefused("as 'default_prompt_name'") { prompted("{\"default_prompt_name\": \"query\"}") }
        assertRefused("as 'default_prompt_name'") { prompted("{\"prompts\": {\"a\": \"b\"}, \"default_prompt_name\": \"query\"}") }
    }

    @Test
    fun `files of the first versions lack some fields`() {
        val old = description.replace(Regex("\\s*\"(weights|integer_only|settings|row_length)\": [^\n]*"), "")
        val metadata = open(packed("kerasbert.json" to old, "labels.txt" to "a\nb\r\n")).metadata
        assertEquals("", metadata.weights)
        assertEquals(false, metadata.integerOnly)
        assertNull(metadata.rowLength)
        assertEquals(listOf("a", "b"), metadata.labels)
        assertNull(metadata.vocabulary)
    }

    @Test
    fun `a vocabulary may hold what Unicode calls a line break`() {
        val small = description.replace("\"vocab_size\": 45", "\"vocab_size\": 5")
        val metadata = open(packed("kerasbert.json" to small, "vocab.txt" to "a\u2028b\nc\u0085\n\n d \ne")).metadata
        assertEquals(listOf("a\u2028b", "c\u0085", "", " d ", "e"), metadata.vocabulary)
    }

    @Test
    fun `offsets of a FlatBuffer that lead out of the file are refused`() {
        val tail = content.copyOfRange(graph.size, content.size)
        var refused = 0
        for (place in 0 until graph.size - 4 step 4) {
            val bytes = graph.clone()
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(place, 0x7FFFFFF0)
            try {
                open(bytes + tail)
            } catch (_: kerasbert.core.KerasBertException) {
                refused++
            }
        }
        // Weights are numbers of any value; offsets and counts are about a fifth of this small file.
        assert(refused > graph.size / 4 / 10) { "only $refused of ${graph.size / 4} changed words were refused" }
    }

    private fun open(bytes: ByteArray) = ModelFile.of(ByteBuffer.wrap(bytes), "a file")

    private fun changed(old: String, new: String): ByteArray {
        check(old in description) { "expected $old in $description" }
        val texts = unpacked(content)
        return packed(
            "kerasbert.json" to description.replaceFirst(old, new), "vocab.txt" to texts.getValue("vocab.txt"),
            "labels.txt" to texts.getValue("labels.txt"),
        )
    }

    private fun packed(vararg files: Pair<String, String>, method: Int = ZipEntry.STORED) =
        packedBytes(*files.map { (name, text) -> name to text.toByteArray() }.toTypedArray(), method = method)

    private fun packedBytes(vararg files: Pair<String, ByteArray>, method: Int = ZipEntry.STORED): ByteArray {
        val out = ByteArrayOutputStream()
        ZipOutputStream(out).use { zip ->
            for ((name, bytes) in files) {
                val entry = ZipEntry(name)
                entry.method = method
                if (method == ZipEntry.STORED) {
                    entry.size = bytes.size.toLong()
                    entry.crc = CRC32().apply { update(bytes) }.value
                }
                zip.putNextEntry(entry)
                zip.write(bytes)
            }
        }
        return graph + out.toByteArray()
    }

    private fun renamed(bytes: ByteArray, old: String, new: String): ByteArray {
        val text = String(bytes, Charsets.ISO_8859_1)
        check(old in text)
        return text.replace(old, new).toByteArray(Charsets.ISO_8859_1)
    }
}

/** The first byte of the archive behind a FlatBuffer. */
internal fun archiveStart(content: ByteArray): Int = find(content, byteArrayOf(0x50, 0x4B, 3, 4))

internal fun unpacked(content: ByteArray): Map<String, String> =
    PackedFiles(ByteBuffer.wrap(content), "a file").read() ?: error("expected packed files")

private fun find(content: ByteArray, wanted: ByteArray): Int =
    (0..content.size - wanted.size).first { place -> wanted.indices.all { content[place + it] == wanted[it] } }
