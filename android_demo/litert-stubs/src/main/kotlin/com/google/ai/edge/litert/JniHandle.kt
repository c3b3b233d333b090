package com.google.ai.edge.litert

/** Something of the native library that has to be closed. */
abstract class JniHandle internal constructor() : AutoCloseable {
    protected abstract fun destroy()

    final override fun close() = destroy()
}
