package kerasbert.core.file

import java.io.File
import java.io.IOException
import java.io.RandomAccessFile
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import kerasbert.core.KerasBertException

private const val HEAD = 8
private val IDENTIFIER = "TFL3".toByteArray()

/**
 * A `.tflite` file of `kerasbert convert`: its metadata and its entry points. It is not run here, see [kerasbert.core.model.Engine].
 *
 * @property name the file's name in messages.
 * @property bytes the size of the file.
 * @property metadata task, tokenizer, vocabulary and labels.
 * @property signatures the entry points in the order of the file.
 * @property minRuntime the oldest TFLite runtime that has every operator, as the file states it; null where it does not.
 */
class ModelFile(
    val name: String,
    val bytes: Int,
    val metadata: Metadata,
    val signatures: List<Signature>,
    val minRuntime: String?,
) {
    companion object {
        /**
         * Reads a file. It is mapped into memory, so only the parts that are read take any.
         *
         * @throws KerasBertException when it is missing, no `.tflite` file, damaged, or without kerasbert's metadata.
         */
        fun open(file: File): ModelFile = of(content(file), file.path)

        /**
         * Reads a file that is in memory, such as an asset that was mapped.
         *
         * @param content the bytes of the whole file, from 0 to the limit.
         * @param name the file's name in messages.
         * @throws KerasBertException when it is no `.tflite` file, damaged, or without kerasbert's metadata.
         */
        fun of(content: ByteBuffer, name: String): ModelFile {
            checkIdentifier(content, name)
            val texts = PackedFiles(content, name).read() ?: throw KerasBertException(
                "expected kerasbert metadata (vocabulary, labels) in $name, received a .tflite file without it; convert the model with " +
                    "`kerasbert convert`",
            )
            val metadata = MetadataReader(texts, name).read()
            try {
                val buffer = FlatBuffer(content)
                ModelVerifier(buffer).verify()
                for (graph in ModelStructure(buffer).graphs()) GraphFaults(graph).check()
                val graph = ModelGraph(buffer)
                return ModelFile(name, content.limit(), metadata, graph.signatures(), graph.minRuntime())
            } catch (damage: DamagedException) {
                throw KerasBertException(
                    "expected an intact .tflite file, received $name, truncated or damaged (${damage.message}); copy or convert it again",
                    damage,
                )
            }
        }

        /**
         * Returns the bytes of a file, which are not checked. It is mapped into memory, so only the parts that are read take any.
         *
         * @throws KerasBertException when it is missing, too large, or cannot be read.
         */
        fun content(file: File): ByteBuffer {
            if (!file.isFile) {
                val kind = if (file.isDirectory) "a folder" else "not there"
                throw KerasBertException("expected a .tflite file, received $file, which is $kind; check the path")
            }
            if (file.length() > Int.MAX_VALUE) {
                throw KerasBertException(
                    "expected a .tflite file of at most 2 GB, the limit of a FlatBuffer, received $file of ${file.length()} bytes; convert " +
                        "the model again",
                )
            }
            try {
                return RandomAccessFile(file, "r").use { it.channel.map(FileChannel.MapMode.READ_ONLY, 0, it.length()) }
            } catch (failure: IOException) {
                throw KerasBertException(
                    "expected a readable .tflite file, received $file (${failure.message}); check the path and its permissions",
                    failure,
                )
            }
        }

        private fun checkIdentifier(content: ByteBuffer, name: String) {
            val found = content.limit() >= HEAD && IDENTIFIER.indices.all { content.get(HEAD / 2 + it) == IDENTIFIER[it] }
            if (!found) {
                throw KerasBertException(
                    "expected a .tflite file (identifier TFL3 at byte 4), received $name without it; pass the output of `kerasbert convert`",
                )
            }
        }
    }
}
