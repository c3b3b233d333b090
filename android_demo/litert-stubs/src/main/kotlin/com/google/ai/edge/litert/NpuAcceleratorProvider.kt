package com.google.ai.edge.litert

import android.content.Context

/** Where the libraries of the phone's NPU come from. */
interface NpuAcceleratorProvider {
    fun isDeviceSupported(): Boolean

    fun isLibraryReady(): Boolean

    suspend fun downloadLibrary()

    fun getLibraryDir(): String
}

/** The libraries that came with the app. */
class BuiltinNpuAcceleratorProvider(context: Context) : NpuAcceleratorProvider {
    override fun isDeviceSupported(): Boolean = stub()

    override fun isLibraryReady(): Boolean = stub()

    override suspend fun downloadLibrary(): Unit = stub()

    override fun getLibraryDir(): String = stub()
}
