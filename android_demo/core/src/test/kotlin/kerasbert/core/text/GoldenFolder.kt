package kerasbert.core.text

import java.io.File
import java.util.zip.GZIPInputStream
import kerasbert.core.file.Base64Bytes
import kerasbert.core.file.Json

/** The golden vectors of `benchmarks/parity/export_golden.py`, which describes their format. */
internal class GoldenFolder(private val folder: File) {
    /** The strings. */
    val texts: List<String> = ArrayList<String>().also { texts ->
        lines(File(folder, "texts.jsonl.gz")) { texts.add(Json.parse(it, "texts") as String) }
    }

    /** The folders of tokenizers. */
    val cases: List<GoldenCase> = folder.listFiles()!!.filter { it.isDirectory }.sorted().map(::GoldenCase)

    companion object {
        /** The vectors that are committed. */
        val small: GoldenFolder by lazy { GoldenFolder(File(testdata(), "golden")) }

        private fun testdata(): File {
            val folder = File(System.getProperty("kerasbert.testdata") ?: "../testdata")
            check(folder.isDirectory) { "expected the folder android_demo/testdata, received $folder; set -Dkerasbert.testdata" }
            return folder
        }
    }
}

/** One tokenizer and its vectors. */
internal class GoldenCase(private val folder: File) {
    private val content = objectOf(File(folder, "tokenizer.json").readText())

    val name: String get() = folder.name

    @Suppress("UNCHECKED_CAST")
    val settings: Map<String, Any?> by lazy {
        val settings = content["settings"] as Map<String, Any?>
        (content["model"] as String?)?.let { settings + ("model" to Base64Bytes.encode(bytes(it))) } ?: settings
    }

    /** Whether the tokenizer lowercases whole words, not each character. */
    val lowersWords: Boolean get() = settings["kind"] == "japanese" && settings["lowercase"] == true

    val vocabulary: List<String> by lazy { text(content["vocabulary"] as String).removeSuffix("\n").split("\n") }

    fun tokenizer(): Tokenizer = tokenizerOf(settings, vocabulary)

    /** Calls [action] with each row of one of the files. */
    fun rows(name: String, action: (GoldenRow) -> Unit) =
        lines(File(folder, "$name.jsonl.gz")) { action(GoldenRow(objectOf(it))) }

    private fun text(name: String): String = bytes(name).toString(Charsets.UTF_8)

    private fun bytes(name: String): ByteArray {
        val file = File(folder, name)
        return if (file.name.endsWith(".gz")) GZIPInputStream(file.inputStream()).use { it.readBytes() } else file.readBytes()
    }
}

/** A row of a file. */
internal class GoldenRow(private val values: Map<String, Any?>) {
    operator fun contains(name: String): Boolean = values[name] != null

    fun text(name: String): String = values[name] as String

    fun flag(name: String): Boolean = values[name] as Boolean

    fun number(name: String): Int = (values[name] as Long).toInt()

    fun numberOrNull(name: String): Int? = (values[name] as Long?)?.toInt()

    fun numbers(name: String): IntArray = (values[name] as List<*>).let { list -> IntArray(list.size) { (list[it] as Long).toInt() } }

    fun texts(name: String): List<String> = (values[name] as List<*>).map { it as String }

    @Suppress("UNCHECKED_CAST")
    fun rows(name: String): List<GoldenRow> = (values[name] as List<*>).map { GoldenRow(it as Map<String, Any?>) }
}

@Suppress("UNCHECKED_CAST")
private fun objectOf(text: String): Map<String, Any?> = Json.parse(text, "golden vectors") as Map<String, Any?>

private fun lines(file: File, action: (String) -> Unit) =
    GZIPInputStream(file.inputStream()).bufferedReader().useLines { lines -> lines.forEach(action) }
