package kerasbert.core.tasks

import kerasbert.core.KerasBertException
import kerasbert.core.TopScores
import kerasbert.core.file.TaskType
import kerasbert.core.model.Row
import kerasbert.core.model.TextModel
import kerasbert.core.text.CodePoints
import kerasbert.core.text.Tokens

private const val TOP = 5 // words by default

/**
 * A word for a mask.
 *
 * @property word the token; `##` at its start shows that it is no word of its own.
 * @property probability from 0 to 1.
 */
data class WordProbability(val word: String, val probability: Float)

/**
 * A mask of a text.
 *
 * @property start its first UTF-16 unit in the text.
 * @property end the unit after its last one.
 * @property words the likeliest words, best first.
 */
class MaskPrediction(val start: Int, val end: Int, val words: List<WordProbability>)

/**
 * The words of the masks of a text.
 *
 * @property masks the masks in their order.
 */
class MaskedPrediction(private val text: String, isCut: Boolean, val masks: List<MaskPrediction>) :
    Prediction(Example.Single(text), isCut) {
    override fun fields(): Map<String, Any?> {
        val places = CodePoints(text)
        return mapOf("masks" to masks.map { mask ->
            val words = mask.words.map { mapOf("word" to it.word, "probability" to it.probability.toDouble()) }
            mapOf("start" to places.ofUnit(mask.start), "end" to places.ofUnit(mask.end), "words" to words)
        })
    }
}

/** The words of masks in a text, such as `the film was [MASK]`. A text that is too long is read around its masks. */
class MaskedWords(model: TextModel) : Task(model, TaskType.MASKED_LM) {
    private val tokenizer = model.tokenizer
    private val top = (model.file.metadata.settings["top"] as? Long)?.toInt() ?: TOP

    override fun predict(example: Example): MaskedPrediction {
        if (example !is Example.Single) throw unexpected("a single text", example)
        return fill(example.text)
    }

    /** Predicts the words of each mask of a text, at least one. */
    fun fill(text: String): MaskedPrediction {
        if (text.all(::isSpace)) throw KerasBertException("expected a text, received an empty one; leave it out")
        val tokens = tokenizer.tokens(text)
        val masks = tokens.ids.indices.filter { tokens.ids[it] == tokenizer.maskId }
        if (masks.isEmpty()) {
            val mask = tokenizer.vocabulary[tokenizer.maskId]
            throw KerasBertException("expected a text with $mask, received none in '${text.take(40)}'; write it in place of a word")
        }
        val room = model.length - 2
        val parts = if (tokens.size <= room) listOf(Part(0, tokens.size, masks)) else partsAround(masks, tokens.size, room)
        return MaskedPrediction(text, tokens.size > room, parts.flatMap { predict(text, tokens, it) })
    }

    private fun predict(text: String, tokens: Tokens, part: Part): List<MaskPrediction> {
        val ids = intArrayOf(tokenizer.clsId) + tokens.ids.copyOfRange(part.start, part.end) + tokenizer.sepId
        val outputs = model.run(Row(ids, IntArray(ids.size)))
        return part.masks.map { mask ->
            val words = likeliest(softmax(outputs.at("logits", mask - part.start + 1)))
            MaskPrediction(start(text, tokens.starts[mask], tokens.ends[mask]), tokens.ends[mask], words)
        }
    }

    /** The first unit of a mask without the space before it, which some masks include. */
    private fun start(text: String, start: Int, end: Int): Int {
        var first = start
        while (first < end && isSpace(text[first])) first++
        return first
    }

    private fun likeliest(probabilities: FloatArray): List<WordProbability> {
        val best = TopScores(top)
        for (id in probabilities.indices) if (!probabilities[id].isNaN()) best.offer(id, probabilities[id].toDouble())
        return best.best().map { WordProbability(tokenizer.vocabulary.getOrElse(it) { id -> "[$id]" }, probabilities[it]) }
    }
}

/** A part of a text with some of its masks. */
private class Part(val start: Int, val end: Int, val masks: List<Int>)

/** Returns parts around masks. The masks of a part are no further apart than half of it, and in its middle. */
private fun partsAround(masks: List<Int>, tokens: Int, room: Int): List<Part> {
    val parts = ArrayList<Part>()
    var first = 0
    while (first < masks.size) {
        val limit = masks[first] + maxOf(room / 2, 1)
        val last = (first until masks.size).firstOrNull { masks[it] >= limit } ?: masks.size
        val middle = Math.floorDiv(masks[first] + masks[last - 1] + 1 - room, 2)
        val start = minOf(maxOf(middle, 0), tokens - room)
        parts += Part(start, start + room, masks.subList(first, last))
        first = last
    }
    return parts
}
