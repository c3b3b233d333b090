package kerasbert.core.search

import kerasbert.core.KerasBertException

/** Reads a table of RFC 4180: cells may be in quotes, and then contain delimiters, line breaks and doubled quotes. */
internal class CsvReader(private val text: String, private val delimiter: Char, private val name: String) {
    private var at = 0
    private var line = 1

    fun rows(): List<List<String>> {
        val rows = ArrayList<List<String>>()
        while (at < text.length) rows.add(row())
        return rows
    }

    private fun row(): List<String> {
        val cells = ArrayList<String>()
        while (true) {
            cells.add(if (at < text.length && text[at] == '"') quoted() else plain())
            if (at == text.length) return cells
            val character = text[at++]
            if (character == delimiter) continue
            line++
            return cells
        }
    }

    private fun plain(): String {
        val start = at
        while (at < text.length && text[at] != delimiter && text[at] != '\n') at++
        return text.substring(start, at).removeSuffix("\r")
    }

    private fun quoted(): String {
        val start = line
        val cell = StringBuilder()
        at++
        while (true) {
            if (at == text.length) throw KerasBertException("expected a quote at the end of a cell, received none in $name, line $start; add it")
            val character = text[at++]
            if (character == '\n') line++
            if (character != '"') {
                cell.append(character)
            } else if (at < text.length && text[at] == '"') {
                cell.append(text[at++])
            } else {
                break
            }
        }
        // What follows a closing quote by mistake belongs to the cell.
        return cell.append(plain()).toString()
    }
}
