package kerasbert.core.search

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.CodingErrorAction
import kerasbert.core.KerasBertException

private const val MOST_BYTES = 64 shl 20
private const val MOST_TEXTS = 200_000
private const val DELIMITERS = ",;\t|"

/**
 * Texts to search, from a file that a person chose.
 *
 * @property columns the names of the columns of a table; empty for a file of lines.
 */
class TextImport private constructor(val columns: List<String>, private val rows: List<List<String>>) {
    /** The number of rows. */
    val size: Int get() = rows.size

    /** The column with the longest texts, which are most likely the ones to search. */
    val likeliestColumn: Int
        get() = columns.indices.maxByOrNull { column -> rows.sumOf { row -> row.getOrElse(column) { "" }.length.toLong() } } ?: 0

    /**
     * The texts of a column, without blank ones.
     *
     * @throws KerasBertException when there are none.
     */
    fun texts(column: Int = 0): List<String> {
        val texts = rows.map { it.getOrElse(column) { "" }.trim() }.filter { it.isNotEmpty() }
        if (texts.isEmpty()) {
            val where = columns.getOrNull(column)?.let { "in the column '$it'" } ?: "in the file"
            throw KerasBertException("expected texts $where, received none; choose another one")
        }
        return texts
    }

    companion object {
        /**
         * Reads a file: `.csv` and `.tsv` as a table whose first row names the columns, others as one text a line.
         *
         * @param content the bytes, in UTF-8 with or without a byte order mark.
         * @param name the file's name, whose ending decides.
         * @throws KerasBertException when the file is too large, not UTF-8, or holds no texts.
         */
        fun read(content: ByteArray, name: String): TextImport {
            if (content.size > MOST_BYTES) {
                throw KerasBertException("expected a file of at most ${MOST_BYTES shr 20} MB, received $name of ${content.size shr 20} MB; split it")
            }
            val text = decode(content, name).removePrefix("\uFEFF")
            val isTable = name.endsWith(".csv", ignoreCase = true) || name.endsWith(".tsv", ignoreCase = true)
            val table = if (isTable) CsvReader(text, delimiterOf(text), name).rows() else text.split('\n').map { listOf(it.removeSuffix("\r")) }
            val rows = (if (isTable) table.drop(1) else table).filter { row -> row.any { it.isNotBlank() } }
            if (rows.isEmpty()) throw KerasBertException("expected texts in $name, received none; choose another file")
            if (rows.size > MOST_TEXTS) throw KerasBertException("expected at most $MOST_TEXTS texts, received ${rows.size} in $name; split it")
            return TextImport(if (isTable) table[0] else emptyList(), rows)
        }

        private fun decode(content: ByteArray, name: String): String {
            val decoder = Charsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT)
            try {
                return decoder.decode(ByteBuffer.wrap(content)).toString()
            } catch (_: CharacterCodingException) {
                throw KerasBertException("expected UTF-8 in $name, received another encoding; save the file as UTF-8")
            }
        }

        /** The character that separates the names of the columns most often. */
        private fun delimiterOf(text: String): Char {
            val header = text.substringBefore('\n')
            return DELIMITERS.maxByOrNull { delimiter -> header.count { it == delimiter } } ?: ','
        }
    }
}
