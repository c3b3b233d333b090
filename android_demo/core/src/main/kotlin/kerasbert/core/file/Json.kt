package kerasbert.core.file

/**
 * JSON without a library.
 *
 * Objects are maps in the order of their names, lists are lists, numbers are [Long] or [Double], and the rest is [String], [Boolean] or null.
 */
object Json {
    /**
     * Parses a JSON text.
     *
     * As in Python, the last of equal names in an object counts. Unlike there, NaN and infinities are no numbers.
     *
     * @param text the text, with or without a byte order mark.
     * @param where its source; an error starts with it.
     * @throws kerasbert.core.KerasBertException when it is not JSON, or exceeds a limit: 100 nested levels, 100 digits of a whole number,
     *   262,144 values. Half of a surrogate pair is no JSON either.
     */
    fun parse(text: String, where: String): Any? = JsonReader(text, where).read()

    /**
     * Writes a value on one line, in the form of `kerasbert predict --json`.
     *
     * Numbers are the shortest decimal ones that are read back as the same number: a [Double] as a double, a [Float] or [FloatArray] as
     * floats. NaN and infinities become null. Characters that could control a terminal are escaped.
     */
    fun write(value: Any?): String = StringBuilder().also { JsonWriter(it).write(value) }.toString()
}
