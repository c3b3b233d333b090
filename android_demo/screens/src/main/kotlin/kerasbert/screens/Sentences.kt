package kerasbert.screens

import java.text.BreakIterator
import java.util.Locale

/**
 * A sentence of a text.
 *
 * @property start its first UTF-16 unit.
 * @property end the unit after its last one, without the white space that follows.
 */
internal data class Sentence(val start: Int, val end: Int)

/** Splits a text into sentences, as the platform's Unicode rules do. A line break ends a sentence as well. */
internal fun sentencesOf(text: String): List<Sentence> {
    val breaks = BreakIterator.getSentenceInstance(Locale.ROOT)
    val sentences = ArrayList<Sentence>()
    var lineStart = 0
    for (line in text.split('\n')) {
        breaks.setText(line)
        var start = breaks.first()
        var end = breaks.next()
        while (end != BreakIterator.DONE) {
            trimmed(line, start, end)?.let { sentences.add(Sentence(lineStart + it.start, lineStart + it.end)) }
            start = end
            end = breaks.next()
        }
        lineStart += line.length + 1
    }
    return sentences
}

private fun trimmed(line: String, start: Int, end: Int): Sentence? {
    var first = start
    var last = end
    while (first < last && line[first].isWhitespace()) first++
    while (last > first && line[last - 1].isWhitespace()) last--
    return if (first < last) Sentence(first, last) else null
}
