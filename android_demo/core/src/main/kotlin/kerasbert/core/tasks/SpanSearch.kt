package kerasbert.core.tasks

import kerasbert.core.TopScores
import kerasbert.core.model.Row
import kerasbert.core.text.Tokenizer
import kerasbert.core.text.Window

/**
 * The tokens of a context, special ones not included.
 *
 * @property ids the token ids.
 * @property starts the first UTF-16 unit of each token, white space left out.
 * @property ends the unit after each token's last one, white space left out.
 */
internal class ContextTokens(val ids: IntArray, val starts: IntArray, val ends: IntArray) {
    companion object {
        /** Tokens without the white space that some tokens include. */
        fun of(text: String, tokenizer: Tokenizer): ContextTokens {
            val tokens = tokenizer.tokens(text)
            val starts = IntArray(tokens.size)
            val ends = IntArray(tokens.size)
            for (token in 0 until tokens.size) {
                var start = tokens.starts[token]
                var end = tokens.ends[token]
                while (start < end && isSpace(text[start])) start++
                while (end > start && isSpace(text[end - 1])) end--
                starts[token] = start
                ends[token] = end
            }
            return ContextTokens(tokens.ids, starts, ends)
        }
    }
}

/**
 * Tokens of a context in a row.
 *
 * @property begin the position in the row of the first of them.
 */
internal class SpanWindow(val context: ContextTokens, val tokens: Window, val begin: Int, val row: Row)

/** A span of UTF-16 units of a context, with the sum of both logits. */
internal class ScoredSpan(val start: Int, val end: Int, val score: Double)

/**
 * The best spans over all windows of a context, and the score of no answer.
 *
 * A span that is in several windows has its highest score. No answer, the sum of both logits of `[CLS]`, has its lowest one: a window with
 * an answer decides (Devlin et al. 2018, section 4.3, and the authors' code). Scores that are not finite are ignored.
 *
 * @param longest tokens in the longest span.
 * @param count the number of spans to find.
 */
internal class SpanSearch(private val longest: Int, private val count: Int) {
    private val scores = HashMap<Pair<Int, Int>, Double>()
    private var lowest = Double.POSITIVE_INFINITY

    /** The score of no answer; 0 where no window has a finite one. */
    val noAnswerScore: Double get() = if (lowest.isInfinite()) 0.0 else lowest

    /** Takes the logits of a window into account, one for each token of the row. */
    fun add(window: SpanWindow, startLogits: FloatArray, endLogits: FloatArray) {
        val none = (startLogits[0] + endLogits[0]).toDouble()
        if (isFinite(none)) lowest = Math.min(lowest, none)
        val size = window.tokens.end - window.tokens.start
        val width = maxOf(minOf(longest, size), 1)
        val start = sides(window, startLogits)
        val end = sides(window, endLogits)
        val best = TopScores(count)
        for (first in 0 until size) {
            for (last in first until minOf(first + width, size)) {
                val score = start[first] + end[last]
                if (isFinite(score)) best.offer(first * width + last - first, score)
            }
        }
        for (number in best.best()) {
            val first = number / width
            val last = first + number % width
            val places = window.context.starts[window.tokens.start + first] to window.context.ends[window.tokens.start + last]
            val score = start[first] + end[last]
            scores[places] = Math.max(score, scores[places] ?: score)
        }
    }

    /** The best spans, best first. */
    fun best(): List<ScoredSpan> {
        val spans = scores.map { (places, score) -> ScoredSpan(places.first, places.second, score) }
        return spans.sortedWith(compareBy({ -it.score }, { it.start }, { it.end })).take(count)
    }

    /** The logits of the context's tokens; minus infinity for tokens without characters. */
    private fun sides(window: SpanWindow, logits: FloatArray): DoubleArray =
        DoubleArray(window.tokens.end - window.tokens.start) {
            val token = window.tokens.start + it
            val isVisible = window.context.ends[token] > window.context.starts[token]
            if (isVisible) logits[window.begin + it].toDouble() else Double.NEGATIVE_INFINITY
        }

    private fun isFinite(score: Double) = !score.isNaN() && !score.isInfinite()
}
