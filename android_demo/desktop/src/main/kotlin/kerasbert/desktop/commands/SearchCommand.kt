package kerasbert.desktop.commands

import java.io.File
import java.util.Locale
import kerasbert.core.KerasBertException
import kerasbert.core.file.ModelFile
import kerasbert.core.model.TextModel
import kerasbert.core.search.IndexFile
import kerasbert.core.search.Match
import kerasbert.core.search.Reranking
import kerasbert.core.search.SentenceSearch
import kerasbert.core.search.TextImport
import kerasbert.core.tasks.Regression
import kerasbert.core.tasks.SentenceEncoding
import kerasbert.desktop.litert.JnaEngine

private const val NANOSECONDS = 1e9 // of a second
private const val INDEX = "kbindex"

/** Prints the texts of a file, or of an index, that are most similar to each line. */
internal fun search(arguments: Arguments): Int {
    val file = File(arguments[2])
    if (!file.isFile) throw KerasBertException("expected a file of texts, received $file, which is not there; check the path")
    val texts = if (file.extension == INDEX) null else readTexts(file, arguments.text("--column"))
    val threads = arguments.count("--threads", 1)
    val queries = inputLines()
    SentenceEncoding(open(arguments.model(), threads)).use { task ->
        reranker(arguments, threads).use { reranker ->
            val search = if (texts == null) file.inputStream().buffered().use { IndexFile.read(it, task.vectorsName) } else index(task, texts)
            Output().use { output ->
                for (query in queries) {
                    val found = search.search(task.encodeQuery(query).vector, maxOf(reranker.candidates, reranker.top))
                    output.write(mapOf("query" to query, "results" to reranker.records(query, found).take(reranker.top)))
                }
            }
        }
    }
    return 0
}

/** The model of pairs that orders what was found, if there is one. */
private class Reranker(private val model: Regression?, private val weight: Double, val candidates: Int, val top: Int) : AutoCloseable {
    fun records(query: String, found: List<Match>): List<Map<String, Any>> {
        if (model == null) return found.map { record(it, it.score) }
        return Reranking.rerank(query, found, weight) { one, other -> model.score(one, other).score }
            .map { record(it.match, it.score) + ("cosine" to it.match.score) }
    }

    private fun record(match: Match, score: Float) = mapOf("index" to match.index, "score" to score, "text" to match.text)

    override fun close() {
        model?.close()
    }
}

private fun reranker(arguments: Arguments, threads: Int): Reranker {
    val model = arguments.file("--rerank")
    for (name in listOf("--candidates", "--rerank-weight")) {
        if (model == null && arguments.text(name) != null) throw KerasBertException("expected --rerank with $name, received none; add it")
    }
    val weight = arguments.share("--rerank-weight", Reranking.WEIGHT)
    val candidates = if (model == null) 0 else arguments.count("--candidates", 20)
    return Reranker(model?.let { Regression(open(it, threads)) }, weight, candidates, arguments.count("--top", 10))
}

private fun open(path: File, threads: Int): TextModel = TextModel.open(ModelFile.open(path)) { JnaEngine.open(path, threads) }

private fun index(task: SentenceEncoding, texts: List<String>): SentenceSearch {
    val start = System.nanoTime()
    val search = SentenceSearch.build(task.vectorsName, texts, { task.encodeDocument(it).vector })
        ?: throw KerasBertException("expected an index, received none")
    val seconds = String.format(Locale.ROOT, "%.2f", (System.nanoTime() - start) / NANOSECONDS)
    note("note: indexed ${search.size} texts in $seconds s; their vectors take ${search.vectorBytes} bytes")
    return search
}

private fun readTexts(file: File, column: String?): List<String> {
    val imported = TextImport.read(file.readBytes(), file.name)
    if (column == null) return imported.texts(imported.likeliestColumn)
    val number = imported.columns.indexOf(column)
    if (number < 0) throw KerasBertException("expected a column among ${imported.columns.joinToString(", ")}, received $column; name one of them")
    return imported.texts(number)
}
