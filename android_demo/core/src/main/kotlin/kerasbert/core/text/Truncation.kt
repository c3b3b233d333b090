package kerasbert.core.text

import kerasbert.core.KerasBertException

/**
 * The text that loses tokens when a sequence is too long; see `kerasbert.text.truncation` in Python.
 *
 * @property label its name in Python and in settings.
 */
enum class Truncation(val label: String) {
    /** The longer text, then both. */
    LONGEST_FIRST("longest_first"),

    /** The first text. */
    ONLY_FIRST("only_first"),

    /** The second text. */
    ONLY_SECOND("only_second");

    /**
     * Returns the tokens of both texts that remain.
     *
     * @param first tokens of the first text.
     * @param second tokens of the second text.
     * @param room the most tokens of both.
     * @throws KerasBertException when the text that must not be truncated leaves no room for the other.
     */
    fun lengths(first: Int, second: Int, room: Int): Pair<Int, Int> {
        if (first.toLong() + second <= room) return Pair(first, second)
        if (this == LONGEST_FIRST) {
            val short = minOf(first, second, room / 2)
            // Of two equally long texts, the second one keeps the odd token.
            return if (first > second) Pair(room - short, short) else Pair(short, room - short)
        }
        val kept = if (this == ONLY_FIRST) second else first
        if (kept >= room) {
            throw KerasBertException(
                "expected truncation $label to leave tokens of both texts, received another text of $kept tokens where there is room " +
                    "for $room; raise the maximum length, or use longest_first",
            )
        }
        return if (this == ONLY_FIRST) Pair(room - kept, kept) else Pair(kept, room - kept)
    }

    companion object {
        /**
         * Returns the member with a label.
         *
         * @throws KerasBertException when there is none.
         */
        fun of(label: String): Truncation = values().firstOrNull { it.label == label } ?: throw KerasBertException(
            "expected truncation to be one of ${values().joinToString(", ") { it.label }}, received '$label'",
        )
    }
}
