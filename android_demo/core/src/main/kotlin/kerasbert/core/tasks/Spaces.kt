package kerasbert.core.tasks

import kerasbert.core.text.SPACES

/** Whether Python's `str.isspace` holds for a character. All white space is in the first plane, so a UTF-16 unit suffices. */
internal fun isSpace(character: Char): Boolean = character in SPACES
