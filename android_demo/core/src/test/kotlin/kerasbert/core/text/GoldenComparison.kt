package kerasbert.core.text

import kerasbert.core.KerasBertException

private const val MAX_EXAMPLES = 5
private const val EXCERPT = 120
private const val SHOWN = 8

/** Compares a tokenizer with the golden vectors of one case, and counts what differs. */
internal class GoldenComparison(private val case: GoldenCase, private val texts: List<String>, private val tokenizer: Tokenizer) {
    // A final sigma depends on MeCab's words; see JapaneseCharacters.
    private val finalSigma = if (case.lowersWords) case.vocabulary.indexOf("\u03C2") else -1
    private val sigma = case.vocabulary.indexOf("\u03C3")

    /** What differs, of each kind: nothing where all is equal. */
    val mismatches = sortedMapOf<String, Int>()

    /** The number of compared rows of each file. */
    val rows = linkedMapOf<String, Int>()

    /** The number of tokens of all texts. */
    var tokenCount = 0L
        private set

    /** Escaped texts of the first differences. */
    val examples = ArrayList<String>()

    fun tokens(): GoldenComparison = compare("tokens") { number, row ->
        val text = texts[number]
        val tokens = tokenizer.tokens(text)
        tokenCount += tokens.size
        check("ids", text, comparable(row.numbers("ids")), comparable(tokens.ids))
        check("offsets", text, row.numbers("offsets"), offsets(text, tokens.starts, tokens.ends))
    }

    fun pairs(): GoldenComparison = compare("pairs") { _, row ->
        val first = texts[row.number("first")]
        val second = row.numberOrNull("second")?.let { texts[it] }
        val encoded = try {
            tokenizer.encode(first, second, row.number("max_length"), Truncation.of(row.text("truncation")))
        } catch (_: KerasBertException) {
            null
        }
        check("errors", first, "error" in row, encoded == null)
        if (encoded != null && "error" !in row) check(encoded, row, first, second)
    }

    fun windows(): GoldenComparison = compare("windows") { _, row ->
        val question = tokenizer.tokens(texts[row.number("question")])
        val context = tokenizer.tokens(texts[row.number("context")])
        val length = row.number("length")
        val longest = minOf(64, (length - tokenizer.specialTokens(true)) / 2)
        val kept = question.slice(0, minOf(longest, question.size))
        val room = length - kept.size - tokenizer.specialTokens(true)
        val stride = row.numberOrNull("stride")?.coerceAtMost(room) ?: defaultStride(length, room)
        val windows = windows(context.size, room, stride)
        val expected = row.rows("rows")
        val where = texts[row.number("context")]
        check("windows", where, expected.map { Window(it.number("first"), it.number("end")) }, windows)
        for ((window, expectedRow) in windows.zip(expected)) {
            val encoded = tokenizer.join(kept, context.slice(window.start, window.end), length)
            check("rows of windows", where, comparable(expectedRow.numbers("ids")), comparable(encoded.ids))
            check("types of windows", where, expectedRow.numbers("types"), encoded.typeIds)
            check("starts of windows", where, expectedRow.number("begin"), kept.size + 1 + tokenizer.separators)
        }
    }

    fun words(): GoldenComparison = compare("words") { _, row ->
        val words = if ("words" in row) Words.of(row.texts("words")) else Words.of(texts[row.number("text")])
        val points = CodePoints(words.text)
        val places = mapOf(
            "starts" to words.starts,
            "ends" to words.ends,
            "piece_starts" to words.pieceStarts,
            "piece_ends" to words.pieceEnds,
        )
        for ((name, units) in places) {
            check("$name of words", words.text, row.numbers(name), IntArray(units.size) { points.ofUnit(units[it]) })
        }
        check("owners of words", words.text, row.numbers("owners"), words.owners)
        check("first tokens", words.text, row.numbers("first_tokens"), words.firstTokens(tokenizer.tokens(words.text)))
    }

    override fun toString(): String = "${case.name}: $rows, mismatches $mismatches" + examples.joinToString("") { "\n  $it" }

    private fun check(encoded: Encoded, row: GoldenRow, first: String, second: String?) {
        val points = listOf(CodePoints(first), CodePoints(second ?: ""))
        val offsets = IntArray(2 * encoded.size)
        for (token in 0 until encoded.size) {
            val text = maxOf(0, encoded.texts[token])
            offsets[2 * token] = points[text].ofUnit(encoded.starts[token])
            offsets[2 * token + 1] = points[text].ofUnit(encoded.ends[token])
        }
        check("ids of pairs", first, comparable(row.numbers("ids")), comparable(encoded.ids))
        check("types of pairs", first, row.numbers("types"), encoded.typeIds)
        check("texts of pairs", first, row.numbers("texts"), encoded.texts)
        check("offsets of pairs", first, row.numbers("offsets"), offsets)
        check("truncation of pairs", first, row.flag("truncated"), encoded.truncated)
    }

    private fun comparable(ids: IntArray): IntArray =
        if (finalSigma < 0) ids else IntArray(ids.size) { if (ids[it] == finalSigma) sigma else ids[it] }

    private fun offsets(text: String, starts: IntArray, ends: IntArray): IntArray {
        val points = CodePoints(text)
        return IntArray(2 * starts.size) { points.ofUnit(if (it % 2 == 0) starts[it / 2] else ends[it / 2]) }
    }

    private fun compare(name: String, action: (Int, GoldenRow) -> Unit): GoldenComparison {
        var number = 0
        case.rows(name) { row -> action(number++, row) }
        rows[name] = number
        return this
    }

    private fun check(what: String, text: String, expected: Any, received: Any) {
        val isEqual = if (expected is IntArray && received is IntArray) expected.contentEquals(received) else expected == received
        if (isEqual) return
        mismatches.merge(what, 1, Int::plus)
        if (examples.size < MAX_EXAMPLES) {
            examples.add("$what of ${escaped(text)}: expected ${shown(expected, received)}, received ${shown(received, expected)}")
        }
    }

    /** The values, of two arrays only from where they differ. */
    private fun shown(value: Any, other: Any): String {
        if (value !is IntArray || other !is IntArray) return value.toString().take(EXCERPT)
        val first = value.indices.firstOrNull { it >= other.size || value[it] != other[it] } ?: value.size
        return "${value.size} with ${value.drop(first).take(SHOWN)} from $first on"
    }

    private fun escaped(text: String): String =
        text.take(EXCERPT).map { if (it in ' '..'~') it.toString() else "\\u%04x".format(it.code) }.joinToString("")
}
