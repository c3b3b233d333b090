package kerasbert.core.text

/** A normalized text with the place of each of its characters in the original text. */
internal class NormalizedText(normalizer: BertNormalizer, text: String, from: Int = 0, to: Int = text.length) : CharSequence {
    private val letters = StringBuilder()
    private val starts = IntList()
    private val ends = IntList()

    init {
        normalizer.normalize(text, from, to, Collector())
    }

    override val length: Int get() = letters.length

    override fun get(index: Int): Char = letters[index]

    override fun subSequence(startIndex: Int, endIndex: Int): CharSequence = letters.subSequence(startIndex, endIndex)

    override fun toString(): String = letters.toString()

    /** The start in the original text of the character at a place. */
    fun start(from: Int): Int = starts[from]

    /** The end in the original text of the character before a place. */
    fun end(to: Int): Int = ends[to - 1]

    /** Passes a part of the text on. */
    fun replay(from: Int, to: Int, sink: WordSink) {
        var at = from
        while (at < to) {
            val codePoint = Character.codePointAt(letters, at)
            val start = starts[at]
            val end = ends[at]
            at += Character.charCount(codePoint)
            val flags = Characters.flags(codePoint)
            when {
                flags and Characters.SPACE != 0 -> sink.space(start, end)
                flags and Characters.PUNCTUATION != 0 -> sink.punctuation(codePoint, start, end)
                else -> sink.letter(codePoint, start, end)
            }
        }
    }

    private inner class Collector : WordSink {
        override fun letter(codePoint: Int, start: Int, end: Int) {
            letters.appendCodePoint(codePoint)
            repeat(Character.charCount(codePoint)) {
                starts.add(start)
                ends.add(end)
            }
        }

        override fun punctuation(codePoint: Int, start: Int, end: Int) = letter(codePoint, start, end)

        override fun space(start: Int, end: Int) = letter(' '.code, start, end)
    }
}
