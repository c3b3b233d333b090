package kerasbert.core.file

import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.zip.CRC32

private const val VERSION: Short = 20 // that unpacks folders and compressed files, as other programs write it
private const val UTF8: Short = 0x800
private const val FIRST_DAY: Short = 0x21 // 1980-01-01: equal files are equal bytes, whenever they are written

/** A file to pack, and where its header is. */
private class Packed(name: String, text: String, val at: Int) {
    val title = name.toByteArray()
    val bytes = text.toByteArray()
    val crc = CRC32().apply { update(bytes) }.value.toInt()
    val size get() = MEMBER_SIZE + title.size + bytes.size

    /** The fields that the header and the entry of the directory share. */
    fun write(buffer: ByteBuffer) {
        buffer.putShort(VERSION).putShort(UTF8).putShort(0).putShort(0).putShort(FIRST_DAY)
        buffer.putInt(crc).putInt(bytes.size).putInt(bytes.size).putShort(title.size.toShort()).putShort(0)
    }
}

/**
 * Packs files behind the FlatBuffer of a `.tflite`, in place of those that it had: a zip archive whose members are stored.
 *
 * @param content the bytes of the whole `.tflite`; they are not changed.
 * @param name its name in messages.
 * @param texts the files by their names.
 * @return the bytes of the new file.
 * @throws kerasbert.core.KerasBertException when the archive of the file is damaged.
 */
internal fun withPackedFiles(content: ByteBuffer, name: String, texts: Map<String, String>): ByteArray {
    val start = PackedFiles(content, name).start()
    var place = start
    val packed = texts.map { (member, text) -> Packed(member, text, place).also { place += it.size } }
    val directory = packed.sumOf { ENTRY_SIZE + it.title.size }
    val file = ByteArray(place + directory + END_SIZE)
    val source = content.duplicate()
    (source as java.nio.Buffer).position(0)
    source.get(file, 0, start)
    val buffer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN)
    (buffer as java.nio.Buffer).position(start)
    for (each in packed) {
        buffer.putInt(MEMBER)
        each.write(buffer)
        buffer.put(each.title).put(each.bytes)
    }
    for (each in packed) {
        buffer.putInt(DIRECTORY_ENTRY).putShort(VERSION)
        each.write(buffer)
        buffer.putShort(0).putShort(0).putShort(0).putInt(0).putInt(each.at).put(each.title)
    }
    buffer.putInt(END).putShort(0).putShort(0).putShort(packed.size.toShort()).putShort(packed.size.toShort())
    buffer.putInt(directory).putInt(place).putShort(0)
    return file
}
