package kerasbert.app

import android.content.Context
import com.google.ai.edge.litert.CompiledModel
import com.google.ai.edge.litert.Environment
import com.google.ai.edge.litert.LiteRtException
import com.google.ai.edge.litert.TensorBuffer
import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.core.file.Signature
import kerasbert.core.model.Engine
import kerasbert.screens.Accelerator
import kerasbert.screens.Engines
import com.google.ai.edge.litert.Accelerator as LiteRtAccelerator

/**
 * LiteRT: the only file of the app that names it.
 *
 * A model runs on the accelerator that was asked for, or it is refused: LiteRT is given that one accelerator and no other.
 */
class LiteRtEngines(private val context: Context, private val models: AppModels) : Engines {
    private val environment: Environment by lazy { Environment.create(context) }

    override val accelerators: List<Accelerator> by lazy {
        val available = guarded("the accelerators of this device") { environment.getAvailableAccelerators() }
        Accelerator.values().filter { it == Accelerator.CPU || liteRt(it) in available }
    }

    override fun open(name: String, file: ModelFile, accelerator: Accelerator): Engine {
        val options = CompiledModel.Options(liteRt(accelerator))
        val path = models.fileOf(name)?.path
        val model = guarded("$name on the $accelerator") {
            if (path != null) CompiledModel.create(path, options, environment)
            else CompiledModel.create(context.assets, "${AppModels.ASSETS}/$name", options, environment)
        }
        return CompiledModelEngine(model, file, "LiteRT, $accelerator")
    }
}

/** A model of LiteRT. Its buffers are made once for each signature. */
private class CompiledModelEngine(private val model: CompiledModel, private val file: ModelFile, override val title: String) : Engine {
    private val buffers = HashMap<String, Buffers>()

    override fun run(
        signature: String,
        inputs: Map<String, IntArray>,
        vectors: Map<String, FloatArray>,
    ): Map<String, FloatArray> = guarded("a run of ${file.name}") {
        val own = buffers.getOrPut(signature) { buffersOf(file.signatures.first { it.name == signature }) }
        inputs.forEach { (name, values) -> own.inputs.getValue(name).writeInt(values) }
        vectors.forEach { (name, values) -> own.inputs.getValue(name).writeFloat(values) }
        model.run(own.inputs, own.outputs, signature)
        own.outputs.mapValues { (_, buffer) -> buffer.readFloat() }
    }

    private fun buffersOf(signature: Signature): Buffers {
        if (signature.inputs.values.any { -1 in it.shape }) {
            throw KerasBertException("expected a model of fixed lengths, received ${file.name} with open ones; convert it with --length 32,64,128")
        }
        return Buffers(
            signature.inputs.keys.associateWith { model.createInputBuffer(it, signature.name) },
            signature.outputs.keys.associateWith { model.createOutputBuffer(it, signature.name) },
        )
    }

    override fun close() {
        buffers.values.forEach { own -> (own.inputs.values + own.outputs.values).forEach(TensorBuffer::close) }
        buffers.clear()
        model.close()
    }

    private class Buffers(val inputs: Map<String, TensorBuffer>, val outputs: Map<String, TensorBuffer>)
}

private fun liteRt(accelerator: Accelerator): LiteRtAccelerator = when (accelerator) {
    Accelerator.CPU -> LiteRtAccelerator.CPU
    Accelerator.GPU -> LiteRtAccelerator.GPU
    Accelerator.NPU -> LiteRtAccelerator.NPU
}

private fun <R> guarded(what: String, work: () -> R): R = try {
    work()
} catch (error: LiteRtException) {
    throw KerasBertException("expected LiteRT to take $what, received: ${error.message}", error)
}
