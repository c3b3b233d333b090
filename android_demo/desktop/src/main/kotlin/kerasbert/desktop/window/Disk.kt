package kerasbert.desktop.window

import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.OpenOption
import java.nio.file.Path
import java.nio.file.StandardOpenOption.WRITE

/** Writes a file and waits until the disk has it: else a power failure after a rename leaves an empty file. */
internal fun writeToDisk(file: Path, content: ByteArray, vararg options: OpenOption) = FileChannel.open(file, WRITE, *options).use { channel ->
    val rest = ByteBuffer.wrap(content)
    while (rest.hasRemaining()) channel.write(rest)
    channel.force(true)
}
