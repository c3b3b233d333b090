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

    /** The signature of a length. */
    fun signature(length: Int): String = if (metadata.lengths == null) metadata.signature else "serve_$length"

    /** The signatures that rows may need. */
    val signatures: List<String> get() = metadata.lengths?.map(::signature) ?: listOf(metadata.signature)
}
