package kerasbert.core.search

import java.io.BufferedInputStream
import java.io.ByteArrayOutputStream
import java.io.InputStream
import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.charset.CharacterCodingException
import java.util.zip.CRC32
import kerasbert.core.KerasBertException

private val MAGIC = "KBSI".toByteArray()
private const val LONGEST_NAME = 200 // UTF-16 units of a model's name in a message
private const val VERSION = 2
private const val NUMBER = 4 // bytes
private const val ALIGNMENT = 8
private const val HEAD = 16 // bytes of a section before its content
private const val MOST_ROWS = 1 shl 16 // of a section
private const val MOST_BYTES = 1 shl 27
private const val BYTE = 8 // bits

/**
 * Texts with their vectors as bytes: `.kbindex`, which Python and the web demo read and write too. `docs/concepts/index-file.md` has its
 * form.
 */
object IndexFile {
    /** Writes texts with their vectors. The stream is not closed. */
    fun write(search: SentenceSearch, out: OutputStream) {
        out.write(MAGIC)
        out.write(little(NUMBER).putInt(VERSION).array())
        section(out, "INFO", info(search.info))
        search.projection?.let { section(out, "PROJ", bytes(it)) }
        var start = 0
        while (start < search.size) {
            val end = partEnd(search, start)
            section(out, "ROWS", rows(search, start, end))
            start = end
        }
        section(out, "DONE", little(2 * NUMBER).putLong(search.size.toLong()).array())
        out.flush()
    }

    /**
     * Reads an index. The stream is not closed.
     *
     * @param model the name of the vectors of the model that will encode queries; null to read the texts of any model's index.
     * @throws KerasBertException when it is another file, damaged, or of another model.
     */
    fun read(input: InputStream, model: String?): SentenceSearch {
        val stream = BufferedInputStream(input)
        if (!exactly(stream, NUMBER).contentEquals(MAGIC)) throw damaged("another file")
        val version = buffer(exactly(stream, NUMBER)).getInt()
        if (version != VERSION) throw damaged("one of version $version, where this program reads $VERSION")
        val info = section(stream).let { (tag, content) -> if (tag == "INFO") readInfo(Content(content)) else throw damaged() }
        if (model != null && info.model != model) throw otherModel(info.openedAs)
        var search: SentenceSearch? = null
        while (true) {
            val (tag, bytes) = section(stream)
            val content = Content(bytes)
            when {
                tag == "PROJ" && search == null -> search = SentenceSearch(info, projection(content, info))
                tag == "ROWS" -> readRows(content, search ?: whole(info).also { search = it })
                tag == "DONE" -> {
                    val found = search ?: whole(info)
                    if (content.left != 2 * NUMBER || content.long() != found.size.toLong() || stream.read() >= 0) throw damaged()
                    return found
                }
                else -> throw damaged()
            }
        }
    }

    private fun whole(info: IndexInfo): SentenceSearch =
        if (info.dimensions == info.modelDimensions) SentenceSearch(info, null) else throw damaged()

    /** The end of the rows that go into a section with row [start]. */
    private fun partEnd(search: SentenceSearch, start: Int): Int {
        var end = start
        var size = 0L
        while (end < search.size && end - start < MOST_ROWS) {
            size += 3L * search.entry(end).text.length // at most
            if (size > MOST_BYTES && end > start) break
            end++
        }
        return end
    }

    private fun info(info: IndexInfo): ByteArray {
        val texts = listOf(info.model, info.openedAs).map { it.toByteArray() }
        val out = little(texts.sumOf { it.size + NUMBER } + 5 * NUMBER)
        for (text in texts) out.putInt(text.size).put(text)
        val bits = if (info.form == VectorForm.INT8) BYTE else 1
        for (number in listOf(info.modelDimensions, info.dimensions, bits, info.chunk, info.overlap)) out.putInt(number)
        return out.array()
    }

    private fun readInfo(content: Content): IndexInfo {
        val (model, openedAs) = List(2) { content.text(content.int()) }
        val (modelDimensions, dimensions, bits, chunk, overlap) = List(5) { content.int() }
        val form = when (bits) {
            BYTE -> VectorForm.INT8
            1 -> VectorForm.BIT
            else -> throw damaged()
        }
        val isPossible = dimensions in 1..modelDimensions && modelDimensions <= MOST_DIMENSIONS && chunk >= 0 && overlap >= 0
        if (!isPossible || content.left > 0) throw damaged()
        return IndexInfo(model, modelDimensions, dimensions, form, openedAs, chunk, overlap)
    }

    private fun projection(content: Content, info: IndexInfo): FloatArray {
        val values = content.floats(info.modelDimensions.toLong() * info.dimensions)
        if (content.left > 0 || values.any { it.isNaN() || it.isInfinite() }) throw damaged()
        return values
    }

    private fun rows(search: SentenceSearch, start: Int, end: Int): ByteArray {
        val entries = (start until end).map(search::entry)
        val vectors = (start until end).map(search.index::at)
        val numbers = LinkedHashMap<Document, Int>() // of the documents of these rows
        for (entry in entries) numbers.getOrPut(entry.document) { numbers.size }
        val texts = entries.map { it.text.toByteArray() }
        val names = numbers.keys.map { it.name.toByteArray() }
        val width = width(search.info)
        val size = 2 * NUMBER + entries.size * (4 * NUMBER + width) + 2 * NUMBER * names.size
        val out = little(size + texts.sumOf { it.size } + names.sumOf { it.size })
        out.putInt(entries.size).putInt(names.size)
        for (entry in entries) out.putInt(numbers.getValue(entry.document))
        for (entry in entries) out.putInt(entry.start)
        putEnds(out, texts)
        for (vector in vectors) out.putFloat(vector.scale)
        for (document in numbers.keys) out.putInt(document.checksum)
        putEnds(out, names)
        for (vector in vectors) out.put(if (search.info.form == VectorForm.INT8) vector.values else packed(vector.values))
        for (text in texts + names) out.put(text)
        return out.array()
    }

    private fun readRows(content: Content, search: SentenceSearch) {
        val (count, documents) = List(2) { content.int() }
        val width = width(search.info)
        if (documents !in 1..count || content.left < count.toLong() * (4 * NUMBER + width) + 2L * NUMBER * documents) throw damaged()
        val (ofRow, starts, textEnds) = List(3) { content.ints(count) }
        val scales = content.floats(count.toLong())
        val (checksums, nameEnds) = List(2) { content.ints(documents) }
        val stored = List(count) { content.bytes(width) }
        if (!areRising(textEnds) || !areRising(nameEnds) || textEnds.last().toLong() + nameEnds.last() != content.left.toLong()) throw damaged()
        if (scales.any { !(it >= 0) || it.isInfinite() } || ofRow.any { it !in 0 until documents } || starts.any { it < 0 }) throw damaged()
        val texts = content.texts(textEnds)
        val names = content.texts(nameEnds)
        if (names.toSet().size < documents) throw damaged()
        val known = names.mapIndexed { number, name -> search.document(name, checksums[number]) }
        for (row in 0 until count) {
            val values = if (search.info.form == VectorForm.INT8) stored[row] else unpacked(stored[row], search.dimensions)
            search.addStored(Entry(texts[row], known[ofRow[row]], starts[row]), Int8Vector(values, scales[row]))
        }
    }

    /** Bytes of a vector. */
    private fun width(info: IndexInfo): Int = if (info.form == VectorForm.INT8) info.dimensions else (info.dimensions + BYTE - 1) / BYTE

    /** The signs of numbers, eight to a byte, the first in the lowest bit. */
    private fun packed(values: ByteArray): ByteArray {
        val bytes = ByteArray((values.size + BYTE - 1) / BYTE)
        for (place in values.indices) {
            if (values[place] > 0) bytes[place / BYTE] = (bytes[place / BYTE].toInt() or (1 shl place % BYTE)).toByte()
        }
        return bytes
    }

    private fun unpacked(bytes: ByteArray, count: Int) = ByteArray(count) { if (bytes[it / BYTE].toInt() shr it % BYTE and 1 == 1) 1 else -1 }

    private fun putEnds(out: ByteBuffer, texts: List<ByteArray>) {
        var sum = 0
        for (text in texts) {
            sum += text.size
            out.putInt(sum)
        }
    }

    private fun areRising(ends: IntArray): Boolean = ends.indices.all { ends[it] >= if (it == 0) 0 else ends[it - 1] }

    private fun section(out: OutputStream, tag: String, content: ByteArray) {
        out.write(little(HEAD).put(tag.toByteArray()).putInt(checksum(content)).putLong(content.size.toLong()).array())
        out.write(content)
        out.write(ByteArray(padding(content.size)))
    }

    private fun section(stream: InputStream): Pair<String, ByteArray> {
        val head = buffer(exactly(stream, HEAD))
        val tag = ByteArray(NUMBER).also(head::get)
        val checksum = head.getInt()
        val size = head.getLong()
        if (size !in 0..Int.MAX_VALUE - ALIGNMENT) throw damaged("one that was cut short")
        val content = exactly(stream, size.toInt())
        if (exactly(stream, padding(content.size)).any { it != 0.toByte() } || checksum(content) != checksum) throw damaged()
        return Pair(String(tag, Charsets.ISO_8859_1), content)
    }

    private fun padding(size: Int): Int = (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT

    internal fun checksum(content: ByteArray): Int = CRC32().apply { update(content) }.value.toInt()

    private fun bytes(values: FloatArray): ByteArray = little(NUMBER * values.size).also { for (value in values) it.putFloat(value) }.array()

    /** Reads bytes piece by piece, so that a damaged size takes no more memory than the file has bytes. */
    private fun exactly(stream: InputStream, size: Int): ByteArray {
        val bytes = ByteArrayOutputStream(minOf(size, 1 shl 13))
        val piece = ByteArray(minOf(size, 1 shl 13))
        while (bytes.size() < size) {
            val count = stream.read(piece, 0, minOf(size - bytes.size(), piece.size))
            if (count < 0) throw damaged("one that was cut short")
            bytes.write(piece, 0, count)
        }
        return bytes.toByteArray()
    }
}

/** The content of a section, read from its start. */
private class Content(bytes: ByteArray) {
    private val buffer = buffer(bytes)

    /** The number of bytes that were not read. */
    val left: Int get() = buffer.remaining()

    fun int(): Int = needing(NUMBER).getInt()

    fun long(): Long = needing(2 * NUMBER).getLong()

    fun ints(count: Int): IntArray = needing(NUMBER.toLong() * count).let { from -> IntArray(count) { from.getInt() } }

    fun floats(count: Long): FloatArray = needing(NUMBER * count).let { from -> FloatArray(count.toInt()) { from.getFloat() } }

    fun bytes(count: Int): ByteArray = ByteArray(count).also { needing(count).get(it) }

    fun text(length: Int): String {
        if (length < 0) throw damaged()
        needing(length)
        return try {
            Charsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(length))).toString()
        } catch (_: CharacterCodingException) {
            throw damaged()
        }
    }

    fun texts(ends: IntArray): List<String> = ends.indices.map { text(ends[it] - if (it == 0) 0 else ends[it - 1]) }

    private fun needing(size: Int): ByteBuffer = needing(size.toLong())

    private fun needing(size: Long): ByteBuffer = if (size in 0..left) buffer else throw damaged("one that was cut short")
}

private fun little(size: Int): ByteBuffer = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN)

private fun buffer(bytes: ByteArray): ByteBuffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

private fun otherModel(openedAs: String): KerasBertException {
    val (named, wanted) =
        if (openedAs.isEmpty()) Pair("which it does not name", "its model") else Pair("named '${openedAs.take(LONGEST_NAME)}'", "that model")
    return KerasBertException("expected a search index of this model, received one of another model, $named; open $wanted, or build the index again")
}

private fun damaged(received: String = "a damaged one") =
    KerasBertException("expected a search index of this model, received $received; build the index again")
