package kerasbert.app

import android.util.AtomicFile
import kerasbert.screens.Store
import java.io.File
import java.io.IOException

/** Keeps entries as files of a folder. */
class FileStore(private val folder: File) : Store {
    override fun read(name: String): ByteArray? = try {
        AtomicFile(File(folder, name)).readFully()
    } catch (_: IOException) {
        null
    }

    override fun write(name: String, content: ByteArray) {
        if (!folder.isDirectory && !folder.mkdirs()) throw IOException("expected to make the folder $folder, received a refusal")
        val file = AtomicFile(File(folder, name))
        val stream = file.startWrite()
        try {
            stream.write(content)
            file.finishWrite(stream)
        } catch (error: IOException) {
            file.failWrite(stream)
            throw error
        }
    }
}
