package kerasbert.desktop.commands

import java.io.BufferedOutputStream
import java.io.FileDescriptor
import java.io.FileOutputStream
import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.charset.CodingErrorAction
import kerasbert.core.KerasBertException
import kerasbert.core.file.Json

/** The lines of the standard input, in UTF-8 with or without a byte order mark; blank ones are left out. */
internal fun inputLines(): List<String> {
    val lines = decode(System.`in`.readBytes()).removePrefix("\uFEFF").split('\n').map { it.removeSuffix("\r") }
    return lines.filterNot { line -> line.all(::isBlank) }.ifEmpty {
        throw KerasBertException("expected texts in stdin, one per line, received none")
    }
}

private fun decode(bytes: ByteArray): String {
    val input = ByteBuffer.wrap(bytes)
    val output = java.nio.CharBuffer.allocate(bytes.size + 1)
    val decoder = Charsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT)
    if (decoder.decode(input, output, true).isError) {
        val byte = String.format("0x%02x", bytes[input.position()])
        throw KerasBertException("expected UTF-8 in stdin, received byte $byte at offset ${input.position()}; convert it to UTF-8")
    }
    return output.flip().toString()
}

/** White space as Python's `str.strip` removes it. */
private fun isBlank(character: Char) = Character.isWhitespace(character) || Character.isSpaceChar(character) || character == '\u0085'

/** The standard output, one JSON value a line. */
internal class Output : AutoCloseable {
    private val stream: OutputStream = BufferedOutputStream(FileOutputStream(FileDescriptor.out), 1 shl 16)

    fun write(value: Any?) = stream.write((Json.write(value) + "\n").toByteArray())

    override fun close() = stream.flush()
}

/** Prints a line for people. */
internal fun note(line: String) = System.err.println(line)
