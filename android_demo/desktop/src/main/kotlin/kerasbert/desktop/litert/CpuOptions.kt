package kerasbert.desktop.litert

import com.sun.jna.Memory
import com.sun.jna.Native
import com.sun.jna.NativeLibrary
import com.sun.jna.Pointer

// The payload of CPU options is TOML under this name; see litert/c/options/litert_cpu_options.cc.
private const val CPU_OPTIONS = "xnnpack"

// Of LiteRtEnvOption: a tag, and a value with its type. See litert/c/litert_environment_options.h.
private const val OPTION_BYTES = 24L
private const val VALUE_TYPE = 8L
private const val VALUE = 16L
private const val AUTO_REGISTER_ACCELERATORS = 24
private const val MIN_LOGGER_SEVERITY = 25
private const val ANY_INT = 2
private const val SILENT = 4L

/** Returns an environment that looks for no accelerators, and prints nothing. */
internal fun LiteRt.cpuEnvironment(): Pointer {
    val options = listOf(AUTO_REGISTER_ACCELERATORS to CPU.toLong(), MIN_LOGGER_SEVERITY to SILENT)
    val memory = Memory(OPTION_BYTES * options.size).also { it.clear() }
    options.forEachIndexed { number, (tag, value) ->
        memory.setInt(OPTION_BYTES * number, tag)
        memory.setInt(OPTION_BYTES * number + VALUE_TYPE, ANY_INT)
        memory.setLong(OPTION_BYTES * number + VALUE, value)
    }
    return handle("create an environment") { LiteRtCreateEnvironment(options.size, memory, it) }
}

/** Returns options for the CPU alone. The caller destroys them. */
internal fun LiteRt.cpuOptions(threads: Int): Pointer {
    val options = handle("create options") { LiteRtCreateOptions(it) }
    try {
        check(LiteRtSetOptionsHardwareAccelerators(options, CPU), "choose the CPU")
        check(LiteRtAddOpaqueOptions(options, threadOptions(threads)), "set the number of threads")
    } catch (failure: Exception) {
        LiteRtDestroyOptions(options)
        throw failure
    }
    return options
}

private fun LiteRt.threadOptions(threads: Int): Pointer {
    val toml = "num_threads = $threads\n".toByteArray()
    // LiteRT owns the payload, and frees it by the function that comes with it.
    val payload = Pointer(Native.malloc(toml.size + 1L))
    payload.write(0, toml, 0, toml.size)
    payload.setByte(toml.size.toLong(), 0)
    val free = NativeLibrary.getProcess().getFunction("free")
    return handle("set the number of threads") { LiteRtCreateOpaqueOptions(CPU_OPTIONS, payload, free, it) }
}
