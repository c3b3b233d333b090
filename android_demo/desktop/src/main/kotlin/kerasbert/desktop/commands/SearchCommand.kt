package kerasbert.desktop.commands

import java.io.File
import java.util.Locale
import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.core.model.TextModel
import kerasbert.core.search.SentenceSearch
import kerasbert.core.search.TextImport
import kerasbert.core.tasks.SentenceEncoding
import kerasbert.desktop.litert.JnaEngine

private const val NANOSECONDS = 1e9 // of a second

/** Prints the texts of a file that are most similar to each line. */
internal fun search(arguments: Arguments): Int {
    val path = arguments.model()
    val texts = readTexts(File(arguments[2]), arguments.text("--column"))
    val queries = inputLines()
    val file = ModelFile.open(path)
    val model = TextModel.open(file) { JnaEngine.open(path, arguments.count("--threads", 1)) }
    SentenceEncoding(model).use { task ->
        val start = System.nanoTime()
        val search = SentenceSearch.build(task.vectorsName, texts, { task.encodeDocument(it).vector })
            ?: throw KerasBertException("expected an index, received none")
        val seconds = String.format(Locale.ROOT, "%.2f", (System.nanoTime() - start) / NANOSECONDS)
        note("note: indexed ${search.size} texts in $seconds s; their vectors take ${search.vectorBytes} bytes")
        Output().use { output ->
            for (query in queries) {
                val results = search.search(task.encodeQuery(query).vector, arguments.count("--top", 10))
                output.write(mapOf("query" to query, "results" to results.map { mapOf("index" to it.index, "score" to it.score, "text" to it.text) }))
            }
        }
    }
    return 0
}

private fun readTexts(file: File, column: String?): List<String> {
    if (!file.isFile) throw KerasBertException("expected a file of texts, received $file, which is not there; check the path")
    val imported = TextImport.read(file.readBytes(), file.name)
    if (column == null) return imported.texts(imported.likeliestColumn)
    val number = imported.columns.indexOf(column)
    if (number < 0) throw KerasBertException("expected a column among ${imported.columns.joinToString(", ")}, received $column; name one of them")
    return imported.texts(number)
}
