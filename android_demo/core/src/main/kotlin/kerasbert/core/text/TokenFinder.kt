package kerasbert.core.text

/**
 * Finds tokens in a text: the leftmost one, of several there the longest (the matches of `tokenizers`).
 *
 * @param tokens the tokens with their ids.
 * @param patterns the texts by which they are found, none of them empty.
 */
internal class TokenFinder(private val tokens: List<Pair<AddedToken, Int>>, private val patterns: List<String>) {
    private val firstLetters = patterns.map { it[0] }.distinct().toCharArray()

    // Of equally long patterns, the first one is found.
    private val byLength = patterns.indices.sortedByDescending { patterns[it].length }.toIntArray()

    val isEmpty: Boolean get() = patterns.isEmpty()

    /** Calls [action] with the parts of a text between tokens (id -1) and with the tokens, white space that they include too. */
    inline fun split(text: CharSequence, from: Int, to: Int, action: (id: Int, from: Int, to: Int) -> Unit) {
        var at = from
        var partStart = from
        while (true) {
            at = candidate(text, at, to)
            if (at < 0) break
            val number = longestAt(text, at, to)
            if (number < 0) {
                at++
                continue
            }
            val end = at + patterns[number].length
            val (token, id) = tokens[number]
            if (!token.singleWord || isSingleWord(text, at, end, from, to)) {
                val tokenStart = if (token.lstrip) maxOf(spaceBefore(text, at, from), partStart) else at
                val tokenEnd = if (token.rstrip) spaceBehind(text, end, to) else end
                if (partStart < tokenStart) action(-1, partStart, tokenStart)
                if (tokenStart < tokenEnd) action(id, tokenStart, tokenEnd) // the token before may have taken all of its white space
                partStart = tokenEnd
            }
            at = end
        }
        if (partStart != to) action(-1, partStart, to)
    }

    /** The next place from [from] on at which a pattern may start, or -1. */
    private fun candidate(text: CharSequence, from: Int, to: Int): Int {
        for (at in from until to) {
            val letter = text[at]
            for (first in firstLetters) if (letter == first) return at
        }
        return -1
    }

    private fun longestAt(text: CharSequence, at: Int, to: Int): Int {
        for (number in byLength) if (isAt(patterns[number], text, at, to)) return number
        return -1
    }

    private fun isAt(pattern: String, text: CharSequence, at: Int, to: Int): Boolean {
        if (pattern.length > to - at) return false
        for (place in pattern.indices) if (text[at + place] != pattern[place]) return false
        return true
    }

    private fun isSingleWord(text: CharSequence, start: Int, end: Int, from: Int, to: Int): Boolean =
        (start == from || !WordCharacters.isWord(codePointBefore(text, start, from))) &&
            (end == to || !WordCharacters.isWord(Character.codePointAt(text, end)))

    private fun spaceBefore(text: CharSequence, start: Int, from: Int): Int {
        var at = start
        while (at > from && WordCharacters.isWhiteSpace(text[at - 1].code)) at--
        return at
    }

    private fun spaceBehind(text: CharSequence, end: Int, to: Int): Int {
        var at = end
        while (at < to && WordCharacters.isWhiteSpace(text[at].code)) at++
        return at
    }

    private fun codePointBefore(text: CharSequence, at: Int, from: Int): Int =
        if (at - 1 == from) text[from].code else Character.codePointBefore(text, at)
}
