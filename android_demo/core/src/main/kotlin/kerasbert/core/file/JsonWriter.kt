package kerasbert.core.file

/** Appends values to a text as JSON, with the separators of Python's `json.dumps`. */
internal class JsonWriter(private val out: StringBuilder) {
    fun write(value: Any?) {
        when (value) {
            null -> out.append("null")
            is String -> string(value)
            is Boolean -> out.append(value)
            is Int, is Long -> out.append(value)
            is Double -> out.append(if (value.isInfinite() || value.isNaN()) "null" else decimal(value))
            is Float -> out.append(if (value.isInfinite() || value.isNaN()) "null" else decimal(value))
            is Map<*, *> -> members('{', value.entries, '}') { (name, item) ->
                string(name.toString())
                out.append(": ")
                write(item)
            }
            is Iterable<*> -> members('[', value, ']', ::write)
            is FloatArray -> members('[', value.asIterable(), ']', ::write)
            is IntArray -> members('[', value.asIterable(), ']', ::write)
            else -> throw IllegalArgumentException("expected a value that JSON has, received ${value.javaClass.name}")
        }
    }

    private fun <T> members(open: Char, items: Iterable<T>, close: Char, write: (T) -> Unit) {
        out.append(open)
        items.forEachIndexed { number, item ->
            if (number > 0) out.append(", ")
            write(item)
        }
        out.append(close)
    }

    private fun string(text: String) {
        out.append('"')
        text.forEachIndexed { index, character ->
            when {
                character == '"' || character == '\\' -> out.append('\\').append(character)
                character == '\n' -> out.append("\\n")
                character == '\r' -> out.append("\\r")
                character == '\t' -> out.append("\\t")
                character == '\b' -> out.append("\\b")
                character == '\u000C' -> out.append("\\f")
                isControl(character) || isLoneSurrogate(text, index) -> out.append(String.format("\\u%04x", character.code))
                else -> out.append(character)
            }
        }
        out.append('"')
    }

    private fun isLoneSurrogate(text: String, index: Int): Boolean {
        val character = text[index]
        if (character.isHighSurrogate()) return index + 1 == text.length || !text[index + 1].isLowSurrogate()
        return character.isLowSurrogate() && (index == 0 || !text[index - 1].isHighSurrogate())
    }

    /** C0 and C1 controls, line separators, and Unicode's Bidi_Control, none of which may control the terminal that shows a line. */
    private fun isControl(character: Char): Boolean = when (character) {
        in '\u0000'..'\u001F', in '\u007F'..'\u009F', '\u061C', '\u200E', '\u200F' -> true
        in '\u2028'..'\u202E', in '\u2066'..'\u2069', '\uFEFF' -> true
        else -> false
    }
}
