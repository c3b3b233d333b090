package kerasbert.desktop.window

import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.core.model.Engine
import kerasbert.desktop.litert.JnaEngine
import kerasbert.screens.Accelerator
import kerasbert.screens.Engines

/**
 * LiteRT on the CPU.
 *
 * @param library the path of its library; null for none.
 */
internal class CpuEngines(private val models: FileModels, private val threads: Int, private val library: String?) : Engines {
    override val accelerators: List<Accelerator> = listOf(Accelerator.CPU)

    override fun open(name: String, file: ModelFile, accelerator: Accelerator): Engine {
        if (accelerator !in accelerators) throw KerasBertException("expected the CPU, received $accelerator; choose the CPU")
        return JnaEngine.open(models.fileOf(name), threads, library)
    }
}
