package kerasbert.desktop.window

import java.io.InputStream

/**
 * A `strings.xml` of Android.
 *
 * @property strings the strings by name.
 * @property plurals the strings that depend on a number, by name and quantity.
 */
internal class StringsFile(val strings: Map<String, String>, val plurals: Map<String, Map<String, String>>) {
    /** This file with the strings of a translation in their place. */
    operator fun plus(translation: StringsFile) = StringsFile(strings + translation.strings, plurals + translation.plurals)

    companion object {
        /** Reads a file. */
        fun read(content: InputStream): StringsFile {
            val elements = elementsOf(content).groupBy { it.tagName }
            return StringsFile(
                elements["string"].orEmpty().associate { it.getAttribute("name") to unescape(it.textContent) },
                elements["plurals"].orEmpty().associate { plural ->
                    plural.getAttribute("name") to
                        plural.childNodes.elements().associate { it.getAttribute("quantity") to unescape(it.textContent) }
                },
            )
        }
    }
}

private const val HEXADECIMAL = 16
private const val DIGITS = 4 // of \u

/** The text of a string: its escapes are replaced, and white space outside of quotation marks becomes one space, as Android does. */
internal fun unescape(raw: String): String {
    val text = StringBuilder()
    var isQuoted = false
    var at = 0
    while (at < raw.length) {
        val character = raw[at++]
        when {
            character == '"' -> isQuoted = !isQuoted
            character == '\\' && raw.startsWith("u", at) -> {
                text.append(raw.substring(at + 1, at + 1 + DIGITS).toInt(HEXADECIMAL).toChar())
                at += 1 + DIGITS
            }
            character == '\\' && at < raw.length -> text.append(escaped(raw[at++]))
            character.isWhitespace() && !isQuoted -> {
                while (at < raw.length && raw[at].isWhitespace()) at++
                if (text.isNotEmpty() && at < raw.length) text.append(' ')
            }
            else -> text.append(character)
        }
    }
    return text.toString()
}

private fun escaped(character: Char) = when (character) {
    'n' -> '\n'
    't' -> '\t'
    else -> character
}
