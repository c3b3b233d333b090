package kerasbert.desktop.litert

import com.sun.jna.Library
import com.sun.jna.Native
import java.io.File
import kerasbert.core.KerasBertException

internal const val VARIABLE = "KERASBERT_LITERT"
private const val VERSION = "2.3.0"
private val DIST_INFO = Regex("ai_edge_litert-(.+)\\.dist-info")

/**
 * LiteRT's C library, of the Python wheel ai-edge-litert.
 *
 * @property version the wheel's version; null where the library lies outside of a wheel.
 */
internal class LiteRtLibrary private constructor(val api: LiteRt, val version: String?) {
    companion object {
        // For good: JNA unloads a library that nothing refers to, and what LiteRT registered for the end of the process would then crash it.
        private val loaded = HashMap<String, LiteRtLibrary>()

        /**
         * Loads a library, once.
         *
         * @throws KerasBertException when there is none, or it is of another version, whose API differs.
         */
        @Synchronized
        fun load(path: String?): LiteRtLibrary {
            loaded[path]?.let { return it }
            if (path.isNullOrEmpty() || !File(path).isFile) {
                throw KerasBertException(
                    "expected libLiteRt.so of the Python package ai-edge-litert $VERSION, received ${path?.ifEmpty { null } ?: "none"}; install " +
                        "the package, or name the library in $VARIABLE",
                )
            }
            val version = versionOf(File(path))
            if (version != null && version != VERSION) {
                throw KerasBertException(
                    "expected ai-edge-litert $VERSION, whose C API this program knows, received $version in $path; install ai-edge-litert==$VERSION",
                )
            }
            try {
                // Names of signatures and files are UTF-8, whatever the locale is.
                val options = mapOf(Library.OPTION_STRING_ENCODING to "UTF-8")
                return LiteRtLibrary(Native.load(path, LiteRt::class.java, options), version).also { loaded[path] = it }
            } catch (failure: UnsatisfiedLinkError) {
                throw KerasBertException("expected a library that this machine loads, received $path (${failure.message}); install it again", failure)
            }
        }

        private fun versionOf(library: File): String? {
            val folder = library.absoluteFile.parentFile?.parentFile ?: return null
            return folder.list().orEmpty().firstNotNullOfOrNull { DIST_INFO.matchEntire(it)?.groupValues?.get(1) }
        }
    }
}
