package kerasbert.core.text

private const val ASCII = 128
private const val ASCII_DROPPED: Byte = 0
private const val ASCII_SPACE: Byte = -1
private const val ASCII_PUNCTUATION: Byte = -2

/**
 * The normalizer of BERT as in `tokenizers`: it drops control characters, separates ideographs, strips accents (Unicode form NFD without
 * nonspacing marks), and lowercases each character alone.
 *
 * @param lowercase whether letters are lowercased.
 * @param stripAccents whether accents are removed.
 * @param splitIdeographs whether each CJK ideograph is a word of its own.
 */
internal class BertNormalizer(
    private val lowercase: Boolean,
    private val stripAccents: Boolean,
    private val splitIdeographs: Boolean,
) {
    private val ascii = ByteArray(ASCII, ::asciiAction) // the letter, or one of the constants

    // Flags of characters that need more than a look at their class.
    private val special = Characters.DROPPED or Characters.SPACE or Characters.PUNCTUATION or
        (if (splitIdeographs) Characters.IDEOGRAPH else 0) or
        (if (stripAccents) Characters.DECOMPOSED or Characters.ACCENT else 0) or
        (if (lowercase) Characters.UPPER else 0)

    /** Normalizes a part of a text. */
    fun normalize(text: String, from: Int, to: Int, sink: WordSink) = Run(sink).normalize(text, from, to)

    private fun asciiAction(code: Int): Byte {
        val flags = Characters.flags(code)
        return when {
            flags and Characters.DROPPED != 0 -> ASCII_DROPPED
            flags and Characters.SPACE != 0 -> ASCII_SPACE
            flags and Characters.PUNCTUATION != 0 -> ASCII_PUNCTUATION
            lowercase && code in 'A'.code..'Z'.code -> (code + 'a'.code - 'A'.code).toByte()
            else -> code.toByte()
        }
    }

    private inner class Run(private val sink: WordSink) {
        private val marks = if (stripAccents) PendingMarks() else null

        fun normalize(text: String, from: Int, to: Int) {
            var at = from
            while (at < to) {
                val unit = text[at]
                val start = at++
                if (unit.code < ASCII) {
                    ascii(unit.code, start)
                } else if (!unit.isSurrogate()) {
                    character(unit.code, start, at)
                } else if (unit.isHighSurrogate() && at < to && text[at].isLowSurrogate()) {
                    val codePoint = Character.toCodePoint(unit, text[at++])
                    character(codePoint, start, at)
                } // a lone surrogate is dropped
            }
            flushMarks()
        }

        private fun ascii(code: Int, at: Int) {
            val action = ascii[code]
            if (action == ASCII_DROPPED) return
            flushMarks()
            when (action) {
                ASCII_SPACE -> sink.space(at, at + 1)
                ASCII_PUNCTUATION -> sink.punctuation(code, at, at + 1)
                else -> sink.letter(action.toInt(), at, at + 1)
            }
        }

        private fun character(codePoint: Int, start: Int, end: Int) {
            val flags = Characters.flags(codePoint)
            if (flags and special == 0) {
                flushMarks()
                sink.letter(codePoint, start, end)
            } else if (flags and Characters.DROPPED != 0) {
                return
            } else if (flags and Characters.SPACE != 0) {
                flushMarks()
                sink.space(start, end)
            } else if (splitIdeographs && flags and Characters.IDEOGRAPH != 0) {
                flushMarks()
                sink.space(start, end)
                decompose(codePoint, flags, start, end)
                flushMarks()
                sink.space(start, end)
            } else {
                decompose(codePoint, flags, start, end)
            }
        }

        private fun decompose(codePoint: Int, flags: Int, start: Int, end: Int) {
            if (marks == null || flags and Characters.DECOMPOSED == 0) {
                flushMarks()
                return keep(codePoint, start, end)
            }
            if (Hangul.isSyllable(codePoint)) {
                flushMarks()
                keep(Hangul.lead(codePoint), start, end)
                keep(Hangul.vowel(codePoint), start, end)
                val tail = Hangul.tail(codePoint)
                if (tail >= 0) keep(tail, start, end)
                return
            }
            val place = Characters.decompositions.find(codePoint)
            if (place < 0) return part(codePoint, true, start, end)
            for (number in 0 until Characters.decompositions.count(place)) {
                part(Characters.decompositions.part(place, number), number == 0, start, end)
            }
        }

        /** Takes a character of the decomposed text; [begins] whether it is the first one of an original character. */
        private fun part(codePoint: Int, begins: Boolean, start: Int, end: Int) {
            val marks = marks!!
            val combiningClass = Characters.combiningClasses[codePoint]
            if (combiningClass > 0) {
                val isKept = Characters.flags(codePoint) and Characters.ACCENT == 0
                marks.add(codePoint, combiningClass, begins, isKept, start, end)
                return
            }
            flushMarks()
            marks.lastStart = start
            marks.lastEnd = end
            keep(codePoint, start, end)
        }

        private fun flushMarks() {
            if (marks != null && marks.size != 0) marks.flush(::keep)
        }

        private fun keep(codePoint: Int, start: Int, end: Int) {
            val flags = Characters.flags(codePoint)
            if (stripAccents && flags and Characters.ACCENT != 0) return
            if (!lowercase || flags and Characters.UPPER == 0) return put(codePoint, flags, start, end)
            val place = Characters.lower.find(codePoint)
            for (number in 0 until Characters.lower.count(place)) {
                val part = Characters.lower.part(place, number)
                put(part, Characters.flags(part), start, end)
            }
        }

        private fun put(codePoint: Int, flags: Int, start: Int, end: Int) {
            if (flags and Characters.PUNCTUATION == 0) sink.letter(codePoint, start, end) else sink.punctuation(codePoint, start, end)
        }
    }
}
