package kerasbert.screens

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.IOException
import kerasbert.core.KerasBertException
import kerasbert.core.file.TaskType
import kerasbert.core.search.IndexFile
import kerasbert.core.search.Match
import kerasbert.core.search.SentenceSearch
import kerasbert.core.search.TextImport
import kerasbert.core.tasks.SentenceEncoding

private const val NANOSECONDS = 1e6 // of a millisecond
private const val TOP = 20
private const val REPORTED = 16 // texts between two reports
private const val INDEX = "search-index"
private const val TEXTS = "search-texts"
private const val INDEX_ENDING = ".kbindex"

/**
 * Texts that are searched.
 *
 * @property name the name of their file; empty for the sample.
 * @property count the number of texts.
 * @property bytes bytes of memory that their vectors take.
 */
data class Corpus(val name: String, val count: Int, val bytes: Long)

/** Asks which column of a table has the texts. */
data class ColumnChoice(val name: String, val columns: List<String>, val likeliest: Int)

/**
 * The screen *Search*.
 *
 * @property corpus the texts that are searched; null before they are read.
 * @property done texts that were read, while an index is built.
 * @property total all texts, while an index is built; 0 otherwise.
 * @property choice a question to the person; null if there is none.
 * @property query what the person typed.
 * @property matches the results for it, best first.
 * @property milliseconds the time of the search, the query's vector included.
 */
data class SearchState(
    val model: ModelState = ModelState.None,
    val corpus: Corpus? = null,
    val done: Int = 0,
    val total: Int = 0,
    val choice: ColumnChoice? = null,
    val query: String = "",
    val matches: List<Match> = emptyList(),
    val milliseconds: Double? = null,
    val failure: Failure? = null,
)

/**
 * Searches texts by meaning while a person types.
 *
 * @param sample reads the texts that are searched before the person imports some.
 */
class SearchPresenter(threads: Threads, models: Models, private val store: Store, private val sample: () -> List<String>) :
    ModelPresenter<SearchState>(SearchState(), threads, models, listOf(TaskType.EMBEDDING)) {
    private val indexing = Lane()
    private val searching = Lane()
    private var imported: Pair<String, TextImport>? = null

    // For the background thread.
    private var index: SentenceSearch? = null

    /** The person typed a query. */
    fun write(query: String) {
        if (query == state.query) return
        show(state.copy(query = query))
        search()
    }

    /**
     * The person chose a file of texts, or an index of this model, a `.kbindex`. A table with several columns is followed by a question,
     * see [SearchState.choice].
     */
    fun import(name: String, read: () -> ByteArray) {
        show(state.copy(failure = null))
        if (name.endsWith(INDEX_ENDING, ignoreCase = true)) {
            build(FailureKind.UNREADABLE_INDEX) { encoder, _ -> open(name, read(), encoder) }
            return
        }
        run(
            indexing,
            FailureKind.UNREADABLE_TEXTS,
            { TextImport.read(read(), name) },
            { file ->
                imported = Pair(name, file)
                if (file.columns.size > 1) {
                    show(state.copy(choice = ColumnChoice(name, file.columns, file.likeliestColumn)))
                } else {
                    chooseColumn(0)
                }
            },
            { show(state.copy(failure = it)) },
        )
    }

    /** The person chose a column; null imports nothing. */
    fun chooseColumn(column: Int?) {
        val (name, file) = imported ?: return
        imported = null
        show(state.copy(choice = null))
        if (column != null) buildTexts { Texts(name, file.texts(column)) }
    }

    /** Stops building an index. The texts that were searched before stay. */
    fun cancel() {
        indexing.drop()
        show(state.copy(done = 0, total = 0))
    }

    override fun modelOf(state: SearchState) = state.model

    override fun withModel(state: SearchState, model: ModelState) = state.copy(model = model, failure = null)

    override fun modelReady() = buildTexts { null }

    /** Builds the index of texts; of the ones that are stored, or else of the sample, if there are none. */
    private fun buildTexts(texts: () -> Texts?) = build(FailureKind.ENGINE) { encoder, progress -> indexOf(encoder, texts(), progress) }

    private fun build(kind: FailureKind, make: (SentenceEncoding, Progress) -> Built?) {
        val model = state.model as? ModelState.Ready ?: return
        show(state.copy(done = 0, total = 1, failure = null))
        run(
            indexing,
            kind,
            { progress -> make(task(model) as SentenceEncoding, progress) },
            { built ->
                if (built != null) {
                    show(state.copy(done = 0, total = 0, corpus = built.corpus, failure = built.failure))
                    search()
                }
            },
            { show(state.copy(done = 0, total = 0, failure = it)) },
            { done, total -> show(state.copy(done = done, total = total)) },
        )
    }

    private fun indexOf(encoder: SentenceEncoding, texts: Texts?, progress: Progress): Built? {
        val stored = if (texts == null) stored() else null
        if (stored != null && stored.second.model == encoder.vectorsName) return built(stored.first, stored.second, null)
        val wanted = texts ?: stored?.let { Texts(it.first, it.second.texts) } ?: Texts("", sample())
        val search = encode(encoder, wanted, progress) ?: return null
        return built(wanted.name, search, if (wanted.name.isEmpty()) null else save(wanted.name, search))
    }

    private fun open(name: String, bytes: ByteArray, encoder: SentenceEncoding): Built {
        val search = IndexFile.read(ByteArrayInputStream(bytes), encoder.vectorsName)
        return built(name, search, save(name, search))
    }

    private fun built(name: String, search: SentenceSearch, failure: Failure?): Built {
        index = search
        return Built(Corpus(name, search.size, search.vectorBytes), failure)
    }

    private fun encode(encoder: SentenceEncoding, texts: Texts, progress: Progress): SentenceSearch? = SentenceSearch.build(
        encoder.vectorsName,
        texts.texts,
        { encoder.encodeDocument(it).vector },
        { done, total ->
            if (done % REPORTED == 0 || done == total) progress.report(done, total)
            !progress.isStale()
        },
    )

    /** The texts that the person imported, with their vectors. Another model has to encode them again. */
    private fun stored(): Pair<String, SentenceSearch>? {
        val name = store.read(TEXTS)?.toString(Charsets.UTF_8) ?: return null
        return try {
            store.read(INDEX)?.let { Pair(name, IndexFile.read(ByteArrayInputStream(it), null)) }
        } catch (_: KerasBertException) {
            null
        }
    }

    private fun save(name: String, search: SentenceSearch): Failure? = try {
        store.write(INDEX, ByteArrayOutputStream().also { IndexFile.write(search, it) }.toByteArray())
        store.write(TEXTS, name.toByteArray())
        null
    } catch (error: IOException) {
        failureOf(error, FailureKind.STORAGE) // the search works until the app ends
    }

    private fun search() {
        val model = state.model as? ModelState.Ready ?: return
        val query = state.query
        if (query.isBlank() || state.corpus == null) {
            searching.drop()
            show(state.copy(matches = emptyList(), milliseconds = null))
            return
        }
        run(
            searching,
            FailureKind.ENGINE,
            {
                val start = System.nanoTime()
                val matches = index?.search((task(model) as SentenceEncoding).encodeQuery(query).vector, TOP).orEmpty()
                Pair(matches, (System.nanoTime() - start) / NANOSECONDS)
            },
            { (matches, milliseconds) -> show(state.copy(matches = matches, milliseconds = milliseconds, failure = null)) },
            { show(state.copy(matches = emptyList(), failure = it)) },
        )
    }

    private class Texts(val name: String, val texts: List<String>)

    private class Built(val corpus: Corpus, val failure: Failure?)
}
