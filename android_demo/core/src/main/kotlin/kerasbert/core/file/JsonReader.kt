package kerasbert.core.file

import kerasbert.core.KerasBertException

private const val MAX_DEPTH = 100
private const val MAX_DIGITS = 100
private const val MAX_VALUES = 1 shl 18

/** One pass over a JSON text of unknown origin (RFC 8259). */
internal class JsonReader(private val text: String, private val where: String) {
    private var at = if (text.startsWith('\uFEFF')) 1 else 0
    private var values = 0

    fun read(): Any? {
        skipSpace()
        if (at == text.length) throw error("nothing")
        val value = value(0)
        skipSpace()
        if (at < text.length) throw error("more behind the value at character $at")
        return value
    }

    private fun value(depth: Int): Any? {
        if (depth > MAX_DEPTH) throw error("brackets nested more than $MAX_DEPTH levels deep")
        if (++values > MAX_VALUES) throw error("more than $MAX_VALUES values")
        return when (val first = peek()) {
            '{' -> objectAt(depth)
            '[' -> list(depth)
            '"' -> string()
            't' -> word("true", true)
            'f' -> word("false", false)
            'n' -> word("null", null)
            else -> if (first == '-' || first in '0'..'9') number() else throw unexpected()
        }
    }

    private fun objectAt(depth: Int): Map<String, Any?> {
        val entries = LinkedHashMap<String, Any?>()
        members('}') {
            if (peek() != '"') throw unexpected()
            val name = string()
            skipSpace()
            expect(':')
            skipSpace()
            entries[name] = value(depth + 1)
        }
        return entries
    }

    private fun list(depth: Int): List<Any?> {
        val entries = ArrayList<Any?>()
        members(']') { entries.add(value(depth + 1)) }
        return entries
    }

    private inline fun members(close: Char, member: () -> Unit) {
        at++
        skipSpace()
        if (peek() == close) {
            at++
            return
        }
        while (true) {
            member()
            skipSpace()
            if (peek() == close) break
            expect(',')
            skipSpace()
        }
        at++
    }

    private fun string(): String {
        at++
        val result = StringBuilder()
        while (true) {
            val character = peek()
            at++
            when {
                character == '"' -> break
                character == '\\' -> result.append(escape())
                character < ' ' -> throw error("a control character inside a text at character ${at - 1}")
                else -> result.append(character)
            }
        }
        return result.toString().also(::checkSurrogates)
    }

    private fun escape(): Char {
        val kind = peek()
        at++
        return when (kind) {
            '"', '\\', '/' -> kind
            'b' -> '\b'
            'f' -> '\u000C'
            'n' -> '\n'
            'r' -> '\r'
            't' -> '\t'
            'u' -> unicode()
            else -> throw error("an invalid escape at character ${at - 2}")
        }
    }

    private fun unicode(): Char {
        val digits = text.substring(at, minOf(at + 4, text.length))
        if (digits.length < 4 || digits.any { Character.digit(it, 16) < 0 || it > 'f' }) {
            throw error("an invalid escape at character ${at - 2}")
        }
        at += 4
        return digits.toInt(16).toChar()
    }

    private fun checkSurrogates(value: String) {
        var index = 0
        while (index < value.length) {
            val character = value[index]
            val isPair = character.isHighSurrogate() && index + 1 < value.length && value[index + 1].isLowSurrogate()
            if (character.isSurrogate() && !isPair) {
                throw error("half of a surrogate pair (\\u${character.code.toString(16)}), which is no character")
            }
            index += if (isPair) 2 else 1
        }
    }

    private fun number(): Number {
        val start = at
        if (text[at] == '-') at++
        val whole = at
        digits()
        if (text[whole] == '0' && at - whole > 1) throw error("a number with a leading zero at character $start")
        val isWhole = !fraction() and !exponent()
        if (!isWhole) return text.substring(start, at).toDouble()
        if (at - whole > MAX_DIGITS) throw error("a number of ${at - whole} digits")
        val literal = text.substring(start, at)
        return literal.toLongOrNull() ?: literal.toDouble()
    }

    private fun fraction(): Boolean {
        if (at == text.length || text[at] != '.') return false
        at++
        digits()
        return true
    }

    private fun exponent(): Boolean {
        if (at == text.length || text[at] !in "eE") return false
        at++
        if (at < text.length && text[at] in "+-") at++
        digits()
        return true
    }

    private fun digits() {
        val start = at
        while (at < text.length && text[at] in '0'..'9') at++
        if (at == start) throw unexpected()
    }

    private fun <T> word(expected: String, value: T): T {
        if (!text.startsWith(expected, at)) throw unexpected()
        at += expected.length
        return value
    }

    private fun skipSpace() {
        while (at < text.length && text[at] in " \t\r\n") at++
    }

    private fun peek(): Char = if (at < text.length) text[at] else throw error("an end in the middle of a value")

    private fun expect(character: Char) {
        if (peek() != character) throw unexpected()
        at++
    }

    private fun unexpected() =
        error(if (at < text.length) "an unexpected character at character $at" else "an end in the middle of a value")

    private fun error(received: String) = KerasBertException("$where: expected JSON, received $received; correct it")
}
