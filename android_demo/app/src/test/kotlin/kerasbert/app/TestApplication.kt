package kerasbert.app

import kerasbert.core.file.ModelFile
import kerasbert.core.model.Engine
import kerasbert.desktop.litert.JnaEngine
import kerasbert.screens.Accelerator
import kerasbert.screens.Engines
import java.io.File
import java.util.concurrent.CountDownLatch

/** The app with LiteRT's library of this machine, and with models that a test puts there. */
class TestApplication : DemoApplication() {
    /** Engines wait for it before they open or run; a test of slow models counts it down. */
    @Volatile
    var gate = CountDownLatch(0)

    /** An error that engines throw in place of running; null for none. */
    @Volatile
    var failure: Throwable? = null

    override val source by lazy { AppModels(null, File(filesDir, "models")) }

    override fun engines() = object : Engines {
        override val accelerators = listOf(Accelerator.CPU, Accelerator.GPU)

        override fun open(name: String, file: ModelFile, accelerator: Accelerator): Engine {
            gate.await()
            failure?.let { throw it }
            val engine = JnaEngine.open(checkNotNull(source.fileOf(name)) { "models of tests are files" })
            return Gated(engine)
        }
    }

    /** Puts models of the zoo where those are that a person opened. */
    fun addModels(vararg names: String) = names.forEach { name ->
        File(ZOO, "$name.tflite").inputStream().use { source.add("$name.tflite", it) }
    }

    private inner class Gated(private val engine: Engine) : Engine by engine {
        override fun run(signature: String, inputs: Map<String, IntArray>, vectors: Map<String, FloatArray>): Map<String, FloatArray> {
            gate.await()
            failure?.let { throw it }
            return engine.run(signature, inputs, vectors)
        }
    }

    companion object {
        /** The zoo's task files. */
        val ZOO = File("../../zoo/files")

        /** Whether this machine has LiteRT's library. */
        val hasLiteRt = System.getenv("KERASBERT_LITERT")?.let { File(it).isFile } ?: false
    }
}
