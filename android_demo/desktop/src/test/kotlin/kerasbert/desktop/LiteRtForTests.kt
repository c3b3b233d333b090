package kerasbert.desktop

import java.io.File
import org.junit.Assume.assumeTrue

/** The folder of the tiny models, see `testdata/make_models.py`. */
internal val modelsFolder = File("../testdata/models")

/** LiteRT's library: the one that KERASBERT_LITERT names, or that of the repository's own environment. */
private val library: File? by lazy {
    val packages = File("../../.venv/lib").listFiles().orEmpty().map { File(it, "site-packages/ai_edge_litert/libLiteRt.so") }
    (listOfNotNull(System.getenv("KERASBERT_LITERT")?.let(::File)) + packages).firstOrNull { it.isFile }
}

/**
 * Returns the path of LiteRT's library. Without one the test is skipped, as the Python package is no part of the Java build; a build that
 * must run it sets -Dkerasbert.litert.required=true.
 */
internal fun libraryOrSkip(): String {
    val found = library
    if (System.getProperty("kerasbert.litert.required") == "true") checkNotNull(found) { "expected libLiteRt.so; set KERASBERT_LITERT" }
    assumeTrue("needs libLiteRt.so of the Python package ai-edge-litert; set KERASBERT_LITERT", found != null)
    return found!!.path
}
