package kerasbert.desktop.litert

import com.sun.jna.Pointer
import java.io.File
import kerasbert.core.KerasBertException
import kerasbert.core.model.Engine

/** Runs a `.tflite` file on the CPU with LiteRT's C library, which is that of the Python wheel ai-edge-litert. */
class JnaEngine private constructor(private val library: LiteRtLibrary, path: File, private val threads: Int) : Engine {
    private val api = library.api
    private val closers = ArrayDeque<() -> Unit>() // what was created, the last one first
    private val environment: Pointer
    private val model: Pointer
    private val compiled: Pointer
    private val indices: Map<String, Long>
    private val bound = HashMap<String, BoundSignature>()
    private var isClosed = false

    init {
        try {
            environment = created(api.cpuEnvironment(), api::LiteRtDestroyEnvironment)
            model = created(handle("load $path") { api.LiteRtCreateModelFromFile(environment, path.path, it) }, api::LiteRtDestroyModel)
            val options = api.cpuOptions(threads)
            try {
                compiled = created(
                    handle("compile $path") { api.LiteRtCreateCompiledModel(environment, model, options, it) },
                    api::LiteRtDestroyCompiledModel,
                )
            } finally {
                api.LiteRtDestroyOptions(options)
            }
            indices = signatures()
        } catch (failure: Exception) {
            close()
            throw failure
        }
    }

    override val title: String
        get() = "LiteRT ${library.version ?: "of another origin"} on the CPU, $threads ${if (threads == 1) "thread" else "threads"}"

    override fun run(signature: String, inputs: Map<String, IntArray>, vectors: Map<String, FloatArray>): Map<String, FloatArray> {
        if (isClosed) throw KerasBertException("expected an open model, received one that was closed; open it again")
        val index = indices[signature]
            ?: throw KerasBertException("expected a signature among ${indices.keys.joinToString(", ")}, received $signature; convert the model again")
        return bound.getOrPut(signature) { BoundSignature(api, environment, compiled, model, index) }.run(inputs, vectors)
    }

    override fun close() {
        if (isClosed) return
        isClosed = true
        bound.values.forEach(BoundSignature::close)
        while (closers.isNotEmpty()) closers.removeFirst()()
    }

    private fun created(handle: Pointer, destroy: (Pointer) -> Unit): Pointer {
        closers.addFirst { destroy(handle) }
        return handle
    }

    private fun signatures(): Map<String, Long> {
        val count = count("count signatures") { api.LiteRtGetNumModelSignatures(model, it) }
        return (0 until count).associateBy { index ->
            val signature = handle("find a signature") { api.LiteRtGetModelSignature(model, index, it) }
            handle("name a signature") { api.LiteRtGetSignatureKey(signature, it) }.getString(0, "UTF-8")
        }
    }

    companion object {
        /**
         * Loads a model.
         *
         * @param path the file.
         * @param threads the number of threads, at least 1.
         * @param library the path of libLiteRt.so; by default that of the environment variable KERASBERT_LITERT.
         * @throws KerasBertException when the library is missing or of another version, or refuses the file.
         */
        fun open(path: File, threads: Int = 1, library: String? = System.getenv(VARIABLE)): JnaEngine {
            if (threads < 1) throw KerasBertException("expected at least one thread, received $threads; raise the number")
            return quietly { JnaEngine(LiteRtLibrary.load(library), path, threads) }
        }
    }
}
