package kerasbert.core.text

/** Takes the characters of a text that is being normalized, each with its place in the original text. */
internal interface WordSink {
    /** Takes a character that is not white space. */
    fun letter(codePoint: Int, start: Int, end: Int)

    /** Takes a character that is a word of its own. */
    fun punctuation(codePoint: Int, start: Int, end: Int)

    /** Takes white space. */
    fun space(start: Int, end: Int)
}
