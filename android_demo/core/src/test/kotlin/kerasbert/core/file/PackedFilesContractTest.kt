package kerasbert.core.file

import java.io.ByteArrayOutputStream
import java.io.File
import java.nio.ByteBuffer
import java.util.zip.CRC32
import java.util.zip.ZipEntry
import java.util.zip.ZipOutputStream
import kerasbert.core.KerasBertException
import kerasbert.core.modelsFolder
import org.junit.Assert.assertEquals
import org.junit.Test

private const val TOKENS = 45

/** The same cases as `tests/export/tflite/test_packed_files.py` and `packed_files_contract_test.js`. */
class PackedFilesContractTest {
    private val contract = map(Json.parse(File(modelsFolder.parentFile, "packed_files.json").readText(), "packed_files.json"))
    private val content = File(modelsFolder.parentFile, contract["file"] as String).readBytes()

    @Test
    fun `files are read or refused as in Python`() {
        val cases = (contract["cases"] as List<*>).map(::map)
        assertEquals(
            cases.map { "${it["case"]}: ${if (it["read"] == true) it["tokens"] ?: TOKENS else "refused"}" },
            cases.map { "${it["case"]}: ${read(changed(it))?.vocabulary?.size ?: "refused"}" },
        )
    }

    private fun changed(case: Map<*, *>): ByteArray {
        val vocabulary = case["vocabulary"] as String?
        val changed = if (vocabulary == null) content.clone() else repacked(vocabulary, case["tokens"] as Long)
        for ((place, value) in (case["set"] as List<*>? ?: emptyList<Any>()).map { it as List<*> }) {
            changed[changed.size - (place as Long).toInt()] = (value as String).toInt(16).toByte()
        }
        val further = (case["append"] as String? ?: "").chunked(2).map { it.toInt(16).toByte() }.toByteArray()
        val out = ByteArrayOutputStream()
        out.write(changed, 0, changed.size - (case["cut"] as Long? ?: 0L).toInt())
        repeat((case["times"] as Long? ?: 1L).toInt()) { out.write(further) }
        return out.toByteArray()
    }

    private fun repacked(furtherLines: String, tokens: Long): ByteArray {
        val out = ByteArrayOutputStream()
        out.write(content, 0, archiveStart(content))
        val archive = ByteArrayOutputStream()
        ZipOutputStream(archive).use { zip ->
            for ((name, text) in unpacked(content)) {
                val changed = if (name == "vocab.txt") text + furtherLines else text.replace("\"vocab_size\": $TOKENS", "\"vocab_size\": $tokens")
                val bytes = changed.toByteArray()
                val entry = ZipEntry(name)
                entry.method = ZipEntry.STORED
                entry.size = bytes.size.toLong()
                entry.compressedSize = entry.size
                entry.crc = CRC32().apply { update(bytes) }.value
                zip.putNextEntry(entry)
                zip.write(bytes)
                zip.closeEntry()
            }
        }
        out.write(archive.toByteArray())
        return out.toByteArray()
    }

    private fun read(bytes: ByteArray): Metadata? = try {
        ModelFile.of(ByteBuffer.wrap(bytes), "a file").metadata
    } catch (_: KerasBertException) {
        null
    }

    private fun map(value: Any?): Map<*, *> = value as Map<*, *>
}
