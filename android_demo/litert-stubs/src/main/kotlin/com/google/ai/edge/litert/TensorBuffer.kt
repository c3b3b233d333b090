package com.google.ai.edge.litert

/** Memory of one input or output. */
class TensorBuffer internal constructor() : JniHandle() {
    @Throws(LiteRtException::class)
    fun writeInt(data: IntArray): Unit = stub()

    @Throws(LiteRtException::class)
    fun writeFloat(data: FloatArray): Unit = stub()

    @Throws(LiteRtException::class)
    fun writeInt8(data: ByteArray): Unit = stub()

    @Throws(LiteRtException::class)
    fun writeBoolean(data: BooleanArray): Unit = stub()

    @Throws(LiteRtException::class)
    fun writeLong(data: LongArray): Unit = stub()

    @Throws(LiteRtException::class)
    fun readInt(): IntArray = stub()

    @Throws(LiteRtException::class)
    fun readFloat(): FloatArray = stub()

    @Throws(LiteRtException::class)
    fun readInt8(): ByteArray = stub()

    @Throws(LiteRtException::class)
    fun readBoolean(): BooleanArray = stub()

    @Throws(LiteRtException::class)
    fun readLong(): LongArray = stub()

    override fun destroy(): Unit = stub()
}
