package kerasbert.desktop.window

import java.io.File
import java.nio.ByteBuffer
import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.screens.ModelSource

private const val SUFFIX = ".tflite"

/**
 * The models that the window was started with, and those that the person opened. They stay where they are.
 *
 * @throws KerasBertException when two of them have one name.
 */
internal class FileModels(models: List<File>) : ModelSource {
    private val files = LinkedHashMap<String, File>()

    init {
        for (model in models) {
            val other = files.put(model.name, model)
            if (other != null) throw KerasBertException("expected models of different names, received $other and $model; rename one of them")
        }
    }

    override fun names(): List<String> = files.keys.toList()

    override fun read(name: String): ModelFile = ModelFile.open(fileOf(name))

    override fun content(name: String): ByteBuffer = ModelFile.content(fileOf(name))

    /** The file of a model. */
    fun fileOf(name: String): File = files[name] ?: throw KerasBertException("expected a model among ${files.keys.joinToString(", ")}, received $name")

    /** The names of the models that are in a file; none where it is not among them. */
    fun namesOf(file: File): List<String> = files.filterValues { it.canonicalFile == file.canonicalFile }.keys.toList()

    /**
     * Adds a file, and checks it.
     *
     * @return its name, with a number where another file has that name.
     * @throws KerasBertException when it is not a usable model.
     */
    fun add(file: File): String {
        ModelFile.open(file)
        val path = file.absoluteFile.normalize()
        val names = sequenceOf(file.name) + generateSequence(2) { it + 1 }.map { "${file.name.removeSuffix(SUFFIX)} ($it)$SUFFIX" }
        return names.first { name -> files[name].let { it == null || it.absoluteFile.normalize() == path } }.also { files[it] = file }
    }
}
