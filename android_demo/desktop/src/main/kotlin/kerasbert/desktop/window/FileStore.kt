package kerasbert.desktop.window

import java.io.File
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardCopyOption.REPLACE_EXISTING
import kerasbert.screens.Store

/** Keeps entries as files of a folder. */
internal class FileStore(private val folder: Path) : Store {
    override fun read(name: String): ByteArray? = try {
        Files.readAllBytes(folder.resolve(name))
    } catch (_: IOException) {
        null
    }

    override fun write(name: String, content: ByteArray) {
        Files.createDirectories(folder)
        val partial = Files.createTempFile(folder, name, ".partial")
        try {
            writeToDisk(partial, content)
            Files.move(partial, folder.resolve(name), ATOMIC_MOVE, REPLACE_EXISTING)
        } finally {
            Files.deleteIfExists(partial)
        }
    }

    companion object {
        private const val NAME = "kerasbert-demo"

        /** Where programs keep their data, by the XDG Base Directory Specification: relative paths do not count. */
        fun defaultFolder(variables: Map<String, String> = System.getenv(), home: String = System.getProperty("user.home")): Path {
            val named = variables["XDG_DATA_HOME"]?.let(::File)?.takeIf { it.isAbsolute }
            return (named ?: File(home, ".local/share")).toPath().resolve(NAME)
        }
    }
}
