package kerasbert.core.tasks

import kerasbert.core.file.TaskType
import kerasbert.core.model.Row
import kerasbert.core.model.TextModel
import kerasbert.core.text.CodePoints
import kerasbert.core.text.Tokens
import kerasbert.core.text.Window
import kerasbert.core.text.Words
import kerasbert.core.text.defaultStride
import kerasbert.core.text.maxContext
import kerasbert.core.text.windows

private const val SPECIAL_TOKENS = 2 // [CLS] tokens [SEP]

/**
 * A word with its tag.
 *
 * @property text the word.
 * @property start its first UTF-16 unit in the text.
 * @property end the unit after its last one.
 * @property tag the tag.
 * @property score the tag's probability; 1 for a word without tokens.
 */
data class TaggedWord(val text: String, val start: Int, val end: Int, val tag: String, val score: Double)

/**
 * An entity of a text.
 *
 * @property label its label.
 * @property text its text.
 * @property start its first UTF-16 unit in the text.
 * @property end the unit after its last one.
 * @property score the mean of the probabilities of its words' tags.
 */
data class Entity(val label: String, val text: String, val start: Int, val end: Int, val score: Double)

/**
 * The tags of a text.
 *
 * @property words the words in their order.
 * @property entities the entities that the tags mark.
 */
class TagPrediction internal constructor(private val text: String, val words: List<TaggedWord>, val entities: List<Entity>) :
    Prediction(Example.Single(text), isCut = false) {
    override fun fields(): Map<String, Any?> {
        val places = CodePoints(text)
        return mapOf("words" to words.map { it.text }, "tags" to words.map { it.tag }, "entities" to entities.map {
            mapOf(
                "label" to it.label, "text" to it.text, "start" to places.ofUnit(it.start), "end" to places.ofUnit(it.end),
                "score" to it.score,
            )
        })
    }
}

/** A tag for every word of a text, and the entities that tags mark. A long text is read in overlapping windows. */
class Tagging(model: TextModel) : Task(model, TaskType.TAGGING) {
    private val tokenizer = model.tokenizer
    private val tags = Tags(labels)
    private val stride = (model.file.metadata.settings["stride"] as? Long)?.toInt()

    override fun predict(example: Example): TagPrediction {
        if (example !is Example.Single) throw unexpected("a single text", example)
        return tag(example.text)
    }

    /**
     * Tags a text. A word is classified on its first token, in the window in which that has most context.
     *
     * @param report called with the windows done and all windows.
     */
    fun tag(text: String, report: (Int, Int) -> Unit = { _, _ -> }): TagPrediction {
        val words = Words.of(text)
        val tokens = tokenizer.tokens(text)
        val first = words.firstTokens(tokens)
        val room = model.length - SPECIAL_TOKENS
        val parts = windows(tokens.size, room, stride?.let { minOf(it, room) } ?: defaultStride(model.length, room))
        val wordsByWindow = first.indices.groupBy(owners(first, parts)::get)
        val names = MutableList(first.size) { tags.outside }
        val scores = DoubleArray(first.size) { 1.0 }
        val layers = parts.mapIndexedNotNull { number, window ->
            tagWindow(tokens, window, first, wordsByWindow[number].orEmpty(), names, scores).also { report(number + 1, parts.size) }
        }
        val tagged = names.mapIndexed { number, tag ->
            TaggedWord(words.words[number], words.starts[number], words.ends[number], tag, scores[number])
        }
        return TagPrediction(text, tagged, if (tags.markEntities) entities(text, tagged, scores) else emptyList()).after(layers.maxOrNull())
    }

    /** Tags the words of a window, and returns the layers that ran; null where none did, or the file has no exits. */
    private fun tagWindow(
        tokens: Tokens,
        window: Window,
        first: IntArray,
        words: List<Int>,
        names: MutableList<String>,
        scores: DoubleArray,
    ): Int? {
        if (words.isEmpty()) return null
        val ids = intArrayOf(tokenizer.clsId) + tokens.ids.copyOfRange(window.start, window.end) + tokenizer.sepId
        val outputs = model.run(Row(ids, IntArray(ids.size)))
        // Words that share a token share the first one's tag.
        for (group in words.groupBy { first[it] }.values) {
            val probabilities = outputs.at("probabilities", first[group[0]] - window.start + 1)
            val best = argMax(probabilities)
            tags.expand(tags.name(best), group.size).forEachIndexed { place, tag ->
                names[group[place]] = tag
                scores[group[place]] = probabilities[best].toDouble()
            }
        }
        return outputs.layers
    }

    private fun entities(text: String, words: List<TaggedWord>, scores: DoubleArray): List<Entity> =
        tags.spans(words.map { it.tag }).map { span ->
            val (start, end) = words[span.first].start to words[span.end - 1].end
            Entity(span.label, text.substring(start, end), start, end, sum(scores, span.first, span.end) / (span.end - span.first))
        }
}

/** The number of the window in which the first token of each word has most context, the first of equals; -1 for a word without tokens. */
private fun owners(first: IntArray, windows: List<Window>): IntArray {
    val owners = IntArray(first.size) { -1 }
    val most = IntArray(first.size) { -1 }
    windows.forEachIndexed { number, window ->
        for (word in first.indices) {
            val context = if (first[word] < 0) -1 else maxContext(first[word], window)
            if (context > most[word]) {
                owners[word] = number
                most[word] = context
            }
        }
    }
    return owners
}

/** The sum of some numbers in the order in which NumPy adds them, so that means are equal to the last digit. */
private fun sum(values: DoubleArray, start: Int, end: Int): Double {
    val size = end - start
    if (size < 8) return (start until end).fold(0.0) { sum, index -> sum + values[index] }
    if (size > 128) {
        val half = size / 2 / 8 * 8
        return sum(values, start, start + half) + sum(values, start + half, end)
    }
    val lanes = DoubleArray(8) { values[start + it] }
    val whole = size / 8 * 8
    for (index in 8 until whole) lanes[index % 8] += values[start + index]
    val pairs = DoubleArray(4) { lanes[2 * it] + lanes[2 * it + 1] }
    val sum = (pairs[0] + pairs[1]) + (pairs[2] + pairs[3])
    return (start + whole until end).fold(sum) { total, index -> total + values[index] }
}
