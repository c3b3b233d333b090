package kerasbert.screens

import java.nio.ByteBuffer
import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.core.file.TaskType
import kerasbert.core.model.Engine
import kerasbert.core.model.TextModel
import kerasbert.core.tasks.Task
import kerasbert.core.tasks.taskOf

/** What a model runs on. */
enum class Accelerator { CPU, GPU, NPU }

/** Where model files are. */
interface ModelSource {
    /** The names of the files that can be read, in the order in which a person sees them. */
    fun names(): List<String>

    /**
     * Reads a file.
     *
     * @throws KerasBertException when it is missing, damaged or of another maker.
     */
    fun read(name: String): ModelFile

    /**
     * Returns the bytes of a file, from 0 to the limit. They are not changed.
     *
     * @throws KerasBertException when it is missing or cannot be read.
     */
    fun content(name: String): ByteBuffer
}

/** The runtime. */
interface Engines {
    /** What this device has, the CPU first. */
    val accelerators: List<Accelerator>

    /**
     * Loads a model.
     *
     * @param name the file's name in its [ModelSource].
     * @param file the file, as it was read.
     * @param accelerator what it is to run on. There is no fallback: an engine runs there or is not opened.
     * @throws KerasBertException when the runtime refuses the model.
     */
    fun open(name: String, file: ModelFile, accelerator: Accelerator): Engine
}

/**
 * A model that can be chosen.
 *
 * @property name the file's name.
 * @property type the type of its task.
 * @property bytes the size of the file.
 */
data class ModelEntry(val name: String, val type: TaskType, val bytes: Int)

/**
 * The models of the app, of which the most recently used ones stay open.
 *
 * All members are for the background thread, on which models run. So a model is never closed while it runs.
 */
class Models(private val source: ModelSource, private val engines: Engines) {
    private val files = LinkedHashMap<String, ModelFile>()
    private val open = LinkedHashMap<Pair<String, Accelerator>, Task>(OPEN, 1f, true)

    /** What this device has, the CPU first. */
    val accelerators: List<Accelerator> get() = engines.accelerators

    /** The files that can be read. Those of other makers are left out. */
    fun entries(): List<ModelEntry> = source.names().mapNotNull { name ->
        try {
            file(name).let { ModelEntry(name, it.metadata.type, it.bytes) }
        } catch (_: KerasBertException) {
            null
        }
    }

    /**
     * Returns a file.
     *
     * @throws KerasBertException when it is missing, damaged or of another maker.
     */
    fun file(name: String): ModelFile = files.getOrPut(name) { source.read(name) }

    /**
     * Returns the bytes of a file, from 0 to the limit. They are not changed.
     *
     * @throws KerasBertException when it is missing or cannot be read.
     */
    fun content(name: String): ByteBuffer = source.content(name)

    /**
     * Returns a model that is ready to run. It stays open until some others were used.
     *
     * @throws KerasBertException when the file cannot be read, or the runtime refuses it.
     */
    fun task(name: String, accelerator: Accelerator): Task {
        open[Pair(name, accelerator)]?.let { return it }
        while (open.size >= OPEN) close(open.keys.first())
        return fresh(name, accelerator).also { open[Pair(name, accelerator)] = it }
    }

    /** Returns a model of its own, which the caller closes. */
    fun fresh(name: String, accelerator: Accelerator): Task {
        val file = try {
            file(name)
        } catch (error: KerasBertException) {
            throw FailedException(Failure(FailureKind.UNREADABLE_MODEL, error.message.orEmpty()))
        }
        return taskOf(TextModel.open(file) { engines.open(name, it, accelerator) })
    }

    /** Forgets a file, which may have another content now. */
    fun forget(name: String) {
        files.remove(name)
        open.keys.filter { it.first == name }.forEach(::close)
    }

    /** Closes all models but the most recently used one, as memory is short. */
    fun trim() {
        while (open.size > 1) close(open.keys.first())
    }

    /** Closes all models. */
    fun close() {
        open.keys.toList().forEach(::close)
    }

    private fun close(key: Pair<String, Accelerator>) {
        open.remove(key)?.close()
    }

    private companion object {
        const val OPEN = 2 // models; a screen uses one, and a person goes back and forth between two screens
    }
}
