package kerasbert.desktop.litert

import com.sun.jna.Library
import com.sun.jna.Native

private const val STDERR = 2
private const val WRITE_ONLY = 1 // O_WRONLY of Linux and macOS

private interface Files : Library {
    fun open(path: String, flags: Int): Int
    fun dup(file: Int): Int
    fun dup2(file: Int, target: Int): Int
    fun close(file: Int): Int
}

private val files: Files? = try {
    Native.load("c", Files::class.java)
} catch (_: UnsatisfiedLinkError) {
    null // a system without these functions prints one line more
}

/** Runs a block without the lines that native code prints on the standard error: LiteRT's logger has no part in some of them. */
internal fun <T> quietly(block: () -> T): T {
    val api = files ?: return block()
    System.err.flush()
    val (saved, nothing) = api.dup(STDERR) to api.open("/dev/null", WRITE_ONLY)
    if (saved < 0 || nothing < 0) return block()
    api.dup2(nothing, STDERR)
    try {
        return block()
    } finally {
        api.dup2(saved, STDERR)
        api.close(saved)
        api.close(nothing)
    }
}
