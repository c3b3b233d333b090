package com.google.ai.edge.litert

import android.content.res.AssetManager

/** A model made ready for one or several accelerators. */
class CompiledModel private constructor() : JniHandle() {
    /** Settings of the CPU. */
    data class CpuOptions(
        val numThreads: Int? = null,
        val xnnPackFlags: Int? = null,
        val xnnPackWeightCachePath: String? = null,
    )

    /** Settings of the GPU that an app like this one may want; LiteRT has more, so name each argument. */
    data class GpuOptions(
        val infiniteFloatCapping: Boolean? = null,
        val allowSrcQuantizedFcConvOps: Boolean? = null,
        val precision: Precision? = null,
        val bufferStorageType: BufferStorageType? = null,
        val serializationDir: String? = null,
        val modelCacheKey: String? = null,
        val serializeProgramCache: Boolean? = null,
        val serializeExternalTensors: Boolean? = null,
        val backend: Backend? = null,
        val priority: Priority? = null,
    ) {
        /** Width of the numbers that the GPU computes in. */
        enum class Precision(val value: Int) {
            DEFAULT(0),
            FP16(1),
            FP32(2),
            FP16_WITH_FP32_ACCUM(3),
        }

        /** Where tensors lie. */
        enum class BufferStorageType(val value: Int) {
            DEFAULT(0),
            BUFFER(1),
            TEXTURE_2D(2),
        }

        /** The interface to the GPU; the deprecated WEBGPU is left out. */
        enum class Backend(val value: Int) {
            AUTOMATIC(0),
            OPENCL(1),
            OPENGL(3),
        }

        /** The GPU's priority for this work. */
        enum class Priority(val value: Int) {
            DEFAULT(0),
            LOW(1),
            NORMAL(2),
            HIGH(3),
        }
    }

    /** The accelerators that a model may use, and their settings. */
    class Options(internal val accelerators: Set<Accelerator>) {
        constructor(vararg accelerators: Accelerator) : this(setOf(*accelerators))

        var cpuOptions: CpuOptions? = null
        var gpuOptions: GpuOptions? = null

        companion object {
            @JvmStatic
            val CPU: Options = Options(Accelerator.CPU)
        }
    }

    @Throws(LiteRtException::class)
    fun createInputBuffer(inputName: String, signature: String = ""): TensorBuffer = stub()

    @Throws(LiteRtException::class)
    fun createOutputBuffer(outputName: String, signature: String = ""): TensorBuffer = stub()

    @Throws(LiteRtException::class)
    fun run(inputs: Map<String, TensorBuffer>, outputs: Map<String, TensorBuffer>, signature: String = ""): Unit = stub()

    fun getInputTensorType(inputName: String, signature: String = ""): TensorType = stub()

    fun getOutputTensorType(outputName: String, signature: String = ""): TensorType = stub()

    override fun destroy(): Unit = stub()

    companion object {
        @Throws(LiteRtException::class)
        @JvmOverloads
        @JvmStatic
        fun create(
            assetManager: AssetManager,
            assetName: String,
            options: Options = Options.CPU,
            optionalEnv: Environment? = null,
        ): CompiledModel = stub()

        @Throws(LiteRtException::class)
        @JvmOverloads
        @JvmStatic
        fun create(filePath: String, options: Options = Options.CPU, optionalEnv: Environment? = null): CompiledModel = stub()
    }
}
