package kerasbert.core.model

import kerasbert.core.file.Metadata

private const val BUCKET = 16 // tokens; a resizable file runs at multiples of it
private const val DEFAULT_LENGTH = 128 // tokens, if neither file nor tokenizer has a limit

/**
 * The lengths at which a file runs: each row at the shortest one that it fits.
 *
 * @property longest tokens of the longest row; longer texts are cut, or have several windows.
 */
class Lengths(private val metadata: Metadata, tokenizerLimit: Int?) {
    val longest: Int = metadata.sequenceLength
        ?: metadata.rowLength
        ?: minOf(tokenizerLimit ?: DEFAULT_LENGTH, DEFAULT_LENGTH)

    /** The length at which a row of some tokens runs. */
    fun of(tokens: Int): Int {
        metadata.lengths?.let { lengths -> return lengths.firstOrNull { it >= tokens } ?: lengths.last() }
        return metadata.sequenceLength ?: minOf((tokens + BUCKET - 1) / BUCKET * BUCKET, longest)
    }

    /** The signatures of a length: those of the exits, which run in turn, or the only one. */
    fun stages(length: Int): List<String> {
        val suffix = if (metadata.lengths == null) "" else "_$length"
        metadata.exits?.let { exits -> return exits.indices.map { "exit_${it + 1}$suffix" } }
        return listOf(if (metadata.lengths == null) metadata.signature else "serve$suffix")
    }

    /** The signatures that rows may need, those of each length. */
    val signatures: List<List<String>> get() = (metadata.lengths ?: listOf(longest)).map(::stages)
}
