package kerasbert.core.search

import java.io.BufferedInputStream
import java.io.BufferedOutputStream
import java.io.DataInputStream
import java.io.DataOutputStream
import java.io.EOFException
import java.io.InputStream
import java.io.OutputStream
import java.util.zip.CRC32
import java.util.zip.CheckedInputStream
import java.util.zip.CheckedOutputStream
import kerasbert.core.KerasBertException

private const val MAGIC = 0x4B425349 // "KBSI"
private const val VERSION = 1
private const val MOST_NAME = 1 shl 10
private const val MOST_TEXT = 1 shl 24

/**
 * Texts with their vectors as bytes.
 *
 * The form, with big-endian numbers: `KBSI`, version, fingerprint of the model (length and UTF-8), dimensions, number of texts; for each
 * text its length and UTF-8, its scale (float32) and its vector (int8); CRC-32 of all before it.
 */
object IndexFile {
    /** Writes texts with their vectors. The stream is not closed. */
    fun write(search: SentenceSearch, out: OutputStream) {
        val checked = CheckedOutputStream(out, CRC32())
        val data = DataOutputStream(BufferedOutputStream(checked))
        data.writeInt(MAGIC)
        data.writeInt(VERSION)
        data.writeText(search.model)
        data.writeInt(search.dimensions)
        data.writeInt(search.size)
        search.texts.forEachIndexed { number, text ->
            val vector = search.index.at(number)
            data.writeText(text)
            data.writeFloat(vector.scale)
            data.write(vector.values)
        }
        data.flush()
        data.writeInt(checked.checksum.value.toInt())
        data.flush()
    }

    /**
     * Reads what [write] wrote. The stream is not closed.
     *
     * @param model the fingerprint of the model that will encode queries; null to read the texts of any model's index.
     * @throws KerasBertException when it is another file, damaged, or of another model.
     */
    fun read(input: InputStream, model: String?): SentenceSearch {
        val checked = CheckedInputStream(BufferedInputStream(input), CRC32())
        val data = DataInputStream(checked)
        try {
            if (data.readInt() != MAGIC) throw damaged("another file")
            val version = data.readInt()
            if (version != VERSION) throw damaged("one of version $version, where this program reads $VERSION")
            val writer = data.readText(MOST_NAME)
            if (model != null && writer != model) throw damaged("one of another model")
            val search = SentenceSearch(writer, data.readInt())
            repeat(count(data.readInt())) {
                val text = data.readText(MOST_TEXT)
                val scale = data.readFloat()
                val values = ByteArray(search.dimensions).also(data::readFully)
                if (!(scale >= 0) || scale.isInfinite()) throw damaged("a damaged one")
                search.addStored(text, Int8Vector(values, scale))
            }
            val expected = checked.checksum.value.toInt()
            if (data.readInt() != expected) throw damaged("a damaged one")
            return search
        } catch (_: EOFException) {
            throw damaged("one that was cut short")
        }
    }

    private fun count(number: Int): Int = if (number >= 0) number else throw damaged("a damaged one")

    private fun DataOutputStream.writeText(text: String) {
        val bytes = text.toByteArray(Charsets.UTF_8)
        writeInt(bytes.size)
        write(bytes)
    }

    /** Reads a text piece by piece, so that a damaged length takes no more memory than the file has bytes. */
    private fun DataInputStream.readText(most: Int): String {
        val length = readInt()
        if (length !in 0..most) throw damaged("a damaged one")
        val bytes = java.io.ByteArrayOutputStream(minOf(length, 1 shl 13))
        val piece = ByteArray(minOf(length, 1 shl 13))
        var left = length
        while (left > 0) {
            val part = minOf(left, piece.size)
            readFully(piece, 0, part)
            bytes.write(piece, 0, part)
            left -= part
        }
        return String(bytes.toByteArray(), Charsets.UTF_8)
    }

    private fun damaged(received: String) =
        KerasBertException("expected a search index of this model, received $received; build the index again")
}
