package kerasbert.app

import java.io.ByteArrayOutputStream
import java.io.InputStream

/** Reads up to `most` bytes and one more, by which the caller sees that there were more. Android has `readNBytes` from API 33 on only. */
internal fun InputStream.readNBytesOrFewer(most: Int): ByteArray {
    val content = ByteArrayOutputStream()
    val buffer = ByteArray(1 shl 16)
    while (content.size() <= most) {
        val read = read(buffer, 0, minOf(buffer.size, most + 1 - content.size()))
        if (read <= 0) break
        content.write(buffer, 0, read)
    }
    return content.toByteArray()
}
