package kerasbert.core.text

/**
 * A token that is found before a text is split into words; see `AddedToken` of `tokenizers`.
 *
 * @property content the token.
 * @property lstrip whether it includes the white space before it.
 * @property rstrip whether it includes the white space behind it.
 * @property singleWord whether it is found only between white space and punctuation.
 * @property normalized whether it is looked for in the normalized text.
 */
internal data class AddedToken(
    val content: String,
    val lstrip: Boolean = false,
    val rstrip: Boolean = false,
    val singleWord: Boolean = false,
    val normalized: Boolean = false,
)
