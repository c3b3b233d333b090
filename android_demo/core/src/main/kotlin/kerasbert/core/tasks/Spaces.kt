package kerasbert.core.tasks

/** Whether Python's `str.isspace` holds for a character. All white space is in the first plane, so a UTF-16 unit suffices. */
internal fun isSpace(character: Char): Boolean = when (character) {
    in '\u0009'..'\u000D', in '\u001C'..'\u0020', '\u0085', '\u00A0', '\u1680' -> true
    in '\u2000'..'\u200A', '\u2028', '\u2029', '\u202F', '\u205F', '\u3000' -> true
    else -> false
}
