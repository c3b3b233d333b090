package kerasbert.core.file

import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.CharBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.CodingErrorAction
import java.util.zip.CRC32

internal const val DESCRIPTION = "kerasbert.json"
internal const val VOCABULARY = "vocab.txt"
internal const val LABELS = "labels.txt"

private const val MOST_MEMBERS = 16
private val MOST_BYTES = mapOf(DESCRIPTION to (8 shl 20), VOCABULARY to (32 shl 20), LABELS to (4 shl 20))

// Signatures and sizes of APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16. Numbers are little-endian.
internal const val MEMBER = 0x04034B50
internal const val DIRECTORY_ENTRY = 0x02014B50
internal const val END = 0x06054B50
internal const val MEMBER_SIZE = 30
internal const val ENTRY_SIZE = 46
internal const val END_SIZE = 22
private const val MOST_COMMENT = 65_535
private const val ENCRYPTED = 1

/** One entry of the directory of an archive. */
private class Member(val name: String, val flags: Int, val method: Int, val crc: Int, val packed: Long, val size: Long, val at: Long)

/**
 * The files that are packed behind the FlatBuffer of a `.tflite`: a zip archive whose members are stored, not compressed.
 *
 * Only the archives that kerasbert writes are read. A stored member is no larger than the file, so none unpacks into a huge one.
 *
 * @param content the bytes of the whole `.tflite`.
 * @param name its name in messages.
 */
internal class PackedFiles(content: ByteBuffer, private val name: String) {
    private val bytes: ByteBuffer = content.duplicate().order(ByteOrder.LITTLE_ENDIAN)
    private val size = bytes.limit()

    /**
     * Returns the text of each packed file by its name; null where kerasbert packed none.
     *
     * @throws kerasbert.core.KerasBertException when the archive is damaged or hostile.
     */
    fun read(): Map<String, String>? {
        val end = endOfDirectory()
        if (end == null) {
            if (hasDescription()) throw damaged("an archive without its end: the file was cut short, or other bytes follow it")
            return null
        }
        val members = members(end)
        if (members.none { it.name == DESCRIPTION }) return null
        check(members)
        return members.associate { it.name to text(it) }
    }

    /**
     * The place behind the FlatBuffer where the packed files start; the end of the file where there are none.
     *
     * @throws kerasbert.core.KerasBertException when the archive is damaged.
     */
    fun start(): Int {
        val end = endOfDirectory() ?: return size
        return minOf(members(end).minOfOrNull { it.at } ?: end.toLong(), end.toLong()).toInt()
    }

    /** The place of the record at the end of the archive, which only a comment may follow. */
    private fun endOfDirectory(): Int? {
        val last = size - END_SIZE
        for (place in last downTo maxOf(0, last - MOST_COMMENT)) {
            if (bytes.getInt(place) == END && uint16(place + 20) == last - place) return place
        }
        return null
    }

    private fun hasDescription(): Boolean {
        val wanted = DESCRIPTION.toByteArray()
        val last = size - wanted.size
        for (place in MEMBER_SIZE..last) {
            if (bytes.get(place) != wanted[0] || bytes.getInt(place - MEMBER_SIZE) != MEMBER) continue
            if (wanted.indices.all { bytes.get(place + it) == wanted[it] }) return true
        }
        return false
    }

    private fun members(end: Int): List<Member> = try {
        directory(end)
    } catch (error: DamagedException) {
        throw damaged("an archive that does not open (${error.message})")
    }

    private fun directory(end: Int): List<Member> {
        val count = uint16(end + 10)
        val length = uint32(end + 12)
        if (count > MOST_MEMBERS) throw damaged("$count packed files, more than $MOST_MEMBERS")
        // Offsets count from the start of the archive, or of the file, as the one who appended it did.
        val start = end - length
        val shift = start - uint32(end + 16)
        if (start < 0 || shift < 0) throw DamagedException("a directory outside the file")
        val members = ArrayList<Member>()
        var place = start
        repeat(count) {
            if (place + ENTRY_SIZE > end || bytes.getInt(place.toInt()) != DIRECTORY_ENTRY) throw DamagedException("a directory without an entry")
            val at = place.toInt()
            val afterName = place + ENTRY_SIZE + uint16(at + 28)
            if (afterName > end) throw DamagedException("a name past the directory's end")
            members += Member(
                name = ascii(at + ENTRY_SIZE, uint16(at + 28)),
                flags = uint16(at + 8),
                method = uint16(at + 10),
                crc = bytes.getInt(at + 16),
                packed = uint32(at + 20),
                size = uint32(at + 24),
                at = uint32(at + 42) + shift,
            )
            place = afterName + uint16(at + 30) + uint16(at + 32)
        }
        return members
    }

    private fun check(members: List<Member>) {
        val names = HashSet<String>()
        for (member in members) {
            val most = MOST_BYTES[member.name]
                ?: throw damaged("a packed file '${member.name.take(60)}', not one of ${MOST_BYTES.keys.sorted().joinToString(", ")}")
            if (!names.add(member.name)) throw damaged("the same packed file twice")
            if (member.flags and ENCRYPTED != 0) throw damaged("an encrypted ${member.name}")
            if (member.method != 0 || member.size != member.packed) throw damaged("a compressed ${member.name}, where stored files belong")
            if (member.size > most) throw damaged("${member.name} of ${member.size} bytes, more than $most")
        }
    }

    private fun text(member: Member): String {
        val content = content(member)
        val decoder = Charsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT)
        val text: CharBuffer = try {
            decoder.decode(ByteBuffer.wrap(content))
        } catch (_: CharacterCodingException) {
            throw unreadable(member, "it is not UTF-8")
        }
        return text.toString()
    }

    private fun content(member: Member): ByteArray {
        val at = member.at
        if (at + MEMBER_SIZE > size || bytes.getInt(at.toInt()) != MEMBER) throw unreadable(member, "it is not where the directory says")
        val header = at.toInt()
        val start = at + MEMBER_SIZE + uint16(header + 26) + uint16(header + 28)
        if (start + member.size > size) throw unreadable(member, "it is longer than the file")
        if (ascii(header + MEMBER_SIZE, uint16(header + 26)) != member.name) throw unreadable(member, "it has another name than in the directory")
        val content = ByteArray(member.size.toInt())
        val view = bytes.duplicate()
        (view as java.nio.Buffer).position(start.toInt())
        view.get(content)
        if (CRC32().apply { update(content) }.value.toInt() != member.crc) throw unreadable(member, "its checksum is wrong")
        return content
    }

    private fun uint16(place: Int): Int = bytes.getShort(place).toInt() and 0xFFFF

    private fun uint32(place: Int): Long = bytes.getInt(place).toLong() and 0xFFFF_FFFFL

    /** A name of few characters; those beyond ASCII, which no packed file of kerasbert has, become question marks. */
    private fun ascii(place: Int, length: Int): String {
        if (place.toLong() + length > size) throw damaged("a name past the end of the file")
        return String(CharArray(length) { bytes.get(place + it).let { byte -> if (byte in 32..126) byte.toInt().toChar() else '?' } })
    }

    private fun unreadable(member: Member, reason: String) = damaged("${member.name} that cannot be read: $reason")

    private fun damaged(received: String) = metadataError(name, received)
}
