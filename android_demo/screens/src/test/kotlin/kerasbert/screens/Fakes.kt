package kerasbert.screens

import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.core.model.Engine
import java.io.File
import java.io.IOException
import java.nio.ByteBuffer
import java.util.Random

/** Threads whose work a test runs step by step, in the order in which it came. */
class StepThreads : Threads {
    private val waiting = ArrayDeque<() -> Unit>()
    private val arrived = ArrayDeque<() -> Unit>()

    override fun background(work: () -> Unit) {
        waiting.addLast(work)
    }

    override fun screen(work: () -> Unit) {
        arrived.addLast(work)
    }

    /** Runs the oldest work of the background, and then what it gave the screen. */
    fun step() {
        waiting.removeFirst()()
        while (arrived.isNotEmpty()) arrived.removeFirst()()
    }

    /** Runs all work, and the work that this starts. */
    fun finish() {
        while (waiting.isNotEmpty()) step()
    }
}

/** The tiny models beside the tests: a vocabulary and random weights. */
class TinyModels(private val names: List<String>) : ModelSource {
    override fun names() = names

    override fun read(name: String): ModelFile =
        if (name == BROKEN) throw KerasBertException("expected a model, received $name") else ModelFile.open(fileOf(name))

    override fun content(name: String): ByteBuffer = ModelFile.content(fileOf(name))

    private fun fileOf(name: String) = File("../testdata/models", name)

    companion object {
        const val BROKEN = "broken.tflite"
    }
}

/** Engines whose outputs depend on the ids only: random numbers with the ids as their seed. They count what was opened, run and closed. */
class FakeEngines(override val accelerators: List<Accelerator> = listOf(Accelerator.CPU)) : Engines {
    var opened = 0
    var closed = 0
    var runs = 0
    var failure: Throwable? = null
    var wrongOn: Accelerator? = null

    override fun open(name: String, file: ModelFile, accelerator: Accelerator): Engine {
        failure?.let { throw it }
        opened++
        return object : Engine {
            override val title = "fake $accelerator"

            override fun run(signature: String, inputs: Map<String, IntArray>, vectors: Map<String, FloatArray>): Map<String, FloatArray> {
                failure?.let { throw it }
                runs++
                val ids = inputs.getValue("input_ids")
                val draw = Random(ids.contentHashCode() + (if (accelerator == wrongOn) 1L else 0L))
                return file.signatures.first { it.name == signature }.outputs.mapValues { (_, port) ->
                    FloatArray(port.shape.fold(1) { size, axis -> size * (if (axis < 0) ids.size else axis) }) {
                        draw.nextFloat()
                    }
                }
            }

            override fun close() {
                closed++
            }
        }
    }
}

/** A store in memory, which may be full. */
class MemoryStore : Store {
    val entries = HashMap<String, ByteArray>()
    var isFull = false

    override fun read(name: String) = entries[name]

    override fun write(name: String, content: ByteArray) {
        if (isFull) throw IOException("No space left on device")
        entries[name] = content
    }
}

/** A place for a file in memory. It may be full after the first bytes. */
class MemoryDestination(override val name: String = "mine.tflite", private val isFull: Boolean = false) : Destination {
    /** What is there; empty at first, as a picker of files leaves it; null once it was discarded. */
    var content: ByteArray? = ByteArray(0)

    override fun write(content: ByteArray) {
        this.content = if (isFull) content.copyOf(1) else content
        if (isFull) throw IOException("No space left on device")
    }

    override fun discard() {
        content = null
    }
}
