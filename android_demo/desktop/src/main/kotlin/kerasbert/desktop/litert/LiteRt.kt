package kerasbert.desktop.litert

import com.sun.jna.Library
import com.sun.jna.Pointer
import com.sun.jna.ptr.PointerByReference

internal const val CPU = 1 // kLiteRtHwAcceleratorCpu
internal const val READ = 0 // kLiteRtTensorBufferLockModeRead
internal const val WRITE = 1 // kLiteRtTensorBufferLockModeWrite

/**
 * The part of LiteRT's C API that runs a model, as JNA binds it. Functions return a status, 0 if they succeeded.
 *
 * The headers are `litert/c/litert_*.h` of google-ai-edge/LiteRT at commit f67457790c9c2ab67347d6fe53270e8d3df20868, between the releases
 * 2.2.0 and 2.3.0. The API is not stable: `LiteRtCreateModelFromFile` had no environment in earlier versions, under the same symbol.
 */
@Suppress("FunctionName")
internal interface LiteRt : Library {
    fun LiteRtCreateEnvironment(count: Int, options: Pointer?, environment: PointerByReference): Int
    fun LiteRtDestroyEnvironment(environment: Pointer)

    fun LiteRtCreateModelFromFile(environment: Pointer, path: String, model: PointerByReference): Int
    fun LiteRtDestroyModel(model: Pointer)
    fun LiteRtGetNumModelSignatures(model: Pointer, count: SizeByReference): Int
    fun LiteRtGetModelSignature(model: Pointer, index: Long, signature: PointerByReference): Int

    fun LiteRtGetSignatureKey(signature: Pointer, key: PointerByReference): Int
    fun LiteRtGetNumSignatureInputs(signature: Pointer, count: SizeByReference): Int
    fun LiteRtGetSignatureInputName(signature: Pointer, index: Long, name: PointerByReference): Int
    fun LiteRtGetSignatureInputTensorByIndex(signature: Pointer, index: Long, tensor: PointerByReference): Int
    fun LiteRtGetNumSignatureOutputs(signature: Pointer, count: SizeByReference): Int
    fun LiteRtGetSignatureOutputName(signature: Pointer, index: Long, name: PointerByReference): Int
    fun LiteRtGetSignatureOutputTensorByIndex(signature: Pointer, index: Long, tensor: PointerByReference): Int
    fun LiteRtGetRankedTensorType(tensor: Pointer, type: Pointer): Int

    fun LiteRtCreateOptions(options: PointerByReference): Int
    fun LiteRtDestroyOptions(options: Pointer)
    fun LiteRtSetOptionsHardwareAccelerators(options: Pointer, accelerators: Int): Int
    fun LiteRtCreateOpaqueOptions(identifier: String, payload: Pointer, destroy: Pointer, options: PointerByReference): Int
    fun LiteRtAddOpaqueOptions(options: Pointer, opaque: Pointer): Int
    fun LiteRtDestroyOpaqueOptions(options: Pointer)

    fun LiteRtCreateCompiledModel(environment: Pointer, model: Pointer, options: Pointer, compiled: PointerByReference): Int
    fun LiteRtDestroyCompiledModel(compiled: Pointer)
    fun LiteRtCompiledModelResizeInputTensor(compiled: Pointer, signature: Long, input: Long, axes: IntArray, count: Long): Int
    fun LiteRtGetCompiledModelInputBufferRequirements(compiled: Pointer, signature: Long, input: Long, out: PointerByReference): Int
    fun LiteRtGetCompiledModelOutputBufferRequirements(compiled: Pointer, signature: Long, output: Long, out: PointerByReference): Int
    fun LiteRtGetCompiledModelOutputTensorLayouts(compiled: Pointer, signature: Long, count: Long, layouts: Pointer, update: Boolean): Int
    fun LiteRtRunCompiledModel(
        compiled: Pointer,
        signature: Long,
        inputCount: Long,
        inputs: Pointer,
        outputCount: Long,
        outputs: Pointer,
    ): Int

    fun LiteRtCreateManagedTensorBufferFromRequirements(
        environment: Pointer,
        type: Pointer,
        requirements: Pointer,
        buffer: PointerByReference,
    ): Int

    fun LiteRtDestroyTensorBuffer(buffer: Pointer)
    fun LiteRtLockTensorBuffer(buffer: Pointer, address: PointerByReference, mode: Int): Int
    fun LiteRtUnlockTensorBuffer(buffer: Pointer): Int
}
