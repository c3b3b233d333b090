package kerasbert.app

import android.content.res.AssetManager
import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.screens.ModelSource
import java.io.File
import java.io.FileNotFoundException
import java.io.IOException
import java.io.InputStream
import java.nio.ByteBuffer
import java.nio.channels.FileChannel

/**
 * The models in the app's assets, and those that the person opened.
 *
 * @param assets the app's assets; null for none.
 * @param opened the folder of the files that the person opened.
 */
class AppModels(private val assets: AssetManager?, private val opened: File) : ModelSource {
    override fun names(): List<String> {
        val shipped = assets?.list(ASSETS).orEmpty().filter { it.endsWith(SUFFIX) }
        val own = opened.list().orEmpty().filter { it.endsWith(SUFFIX) }
        return (shipped + own).distinct().sorted()
    }

    override fun read(name: String): ModelFile = fileOf(name)?.let { ModelFile.open(it) } ?: ModelFile.of(contentOfAsset(name), name)

    override fun content(name: String): ByteBuffer = fileOf(name)?.let { ModelFile.content(it) } ?: contentOfAsset(name)

    /** The file of a model that the person opened; null for one in the assets. */
    fun fileOf(name: String): File? = File(opened, name).takeIf { it.isFile }

    /**
     * Copies a file of another app, and checks it. An earlier file of that name is replaced once the new one is complete and readable.
     *
     * @return the name of the model.
     * @throws KerasBertException when it is not a usable model.
     * @throws IOException when it cannot be read, or the storage is full.
     */
    fun add(name: String, content: InputStream): String {
        val plain = name.substringAfterLast('/').removeSuffix(SUFFIX).replace(Regex("[^\\w .()-]"), "_").take(LONGEST_NAME) + SUFFIX
        if (!opened.isDirectory && !opened.mkdirs()) throw IOException("expected to make the folder $opened, received a refusal")
        val partial = File.createTempFile("partial", null, opened)
        try {
            partial.outputStream().use { copy(content, it, name) }
            ModelFile.open(partial)
            val target = File(opened, plain)
            if (!partial.renameTo(target)) throw IOException("expected to rename $partial to $target, received a refusal")
        } catch (error: KerasBertException) {
            throw KerasBertException(error.message.orEmpty().replace(partial.path, name), error)
        } finally {
            partial.delete()
        }
        return plain
    }

    private fun copy(content: InputStream, target: java.io.OutputStream, name: String) {
        val buffer = ByteArray(1 shl 16)
        var total = 0L
        while (true) {
            val read = content.read(buffer)
            if (read < 0) return
            total += read
            if (total > MOST_BYTES) throw KerasBertException("expected a model of at most ${MOST_BYTES shr 20} MB, received $name, which is larger")
            target.write(buffer, 0, read)
        }
    }

    private fun contentOfAsset(name: String): ByteBuffer = try {
        val descriptor = assets?.openFd("$ASSETS/$name") ?: throw FileNotFoundException(name)
        descriptor.use {
            it.createInputStream().channel.use { channel -> channel.map(FileChannel.MapMode.READ_ONLY, it.startOffset, it.length) }
        }
    } catch (error: IOException) {
        // Also thrown for a compressed asset, which cannot be mapped.
        throw KerasBertException("expected an uncompressed model $name in the app, received none (${error.message}); build the app again", error)
    }

    companion object {
        /** The folder of the assets in which models are. */
        const val ASSETS = "models"
        private const val SUFFIX = ".tflite"
        private const val LONGEST_NAME = 80
        private const val MOST_BYTES = 512L shl 20
    }
}
