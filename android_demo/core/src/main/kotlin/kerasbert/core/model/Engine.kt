package kerasbert.core.model

import kerasbert.core.file.ModelFile

/**
 * Runs a `.tflite` file, one example at a time. An engine is not shared by threads: its buffers are filled anew by each run.
 *
 * Tensors are bound by the names of the signature. Their order in a file is not that of the code that made it.
 */
interface Engine : AutoCloseable {
    /** What runs the model, in a few words for people, such as `LiteRT 2.3.0 on the CPU, 2 threads`. */
    val title: String

    /**
     * Runs a signature once.
     *
     * @param signature the signature's name.
     * @param inputs the int32 values of each input by name, of a batch of one. Where the file leaves the length open, it becomes that of the
     *   arrays.
     * @param vectors the float32 values of each other input by name: what the signature of an exit before returned.
     * @return the float32 values of each output by name.
     * @throws kerasbert.core.KerasBertException when the runtime refuses the model or fails.
     */
    fun run(signature: String, inputs: Map<String, IntArray>, vectors: Map<String, FloatArray> = emptyMap()): Map<String, FloatArray>

    /** Frees the model. It cannot run afterwards. */
    override fun close()
}

/** Opens engines: the part of a program that knows a runtime. */
fun interface EngineFactory {
    /**
     * Loads a model.
     *
     * @param file the file, which was read already.
     * @throws kerasbert.core.KerasBertException when the runtime refuses it.
     */
    fun open(file: ModelFile): Engine
}
