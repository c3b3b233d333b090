package com.google.ai.edge.litert

import android.content.Context

/** What models of one app share. */
class Environment private constructor() : JniHandle() {
    /** Settings of the environment. */
    enum class Option(val value: Int) {
        CompilerPluginLibraryDir(0),
        DispatchLibraryDir(1),
    }

    @Throws(LiteRtException::class)
    fun getAvailableAccelerators(): Set<Accelerator> = stub()

    override fun destroy(): Unit = stub()

    companion object {
        @Throws(LiteRtException::class)
        @JvmOverloads
        @JvmStatic
        fun create(context: Context, options: Map<Option, String> = mapOf(), enableCompilerCache: Boolean = true): Environment = stub()

        @Throws(LiteRtException::class)
        @JvmOverloads
        @JvmStatic
        fun create(options: Map<Option, String> = mapOf()): Environment = stub()

        @Throws(LiteRtException::class)
        @JvmOverloads
        @JvmStatic
        fun create(
            context: Context,
            npuAcceleratorProvider: NpuAcceleratorProvider,
            options: Map<Option, String> = mapOf(),
            enableCompilerCache: Boolean = true,
        ): Environment = stub()
    }
}
