package kerasbert.core.text

import kerasbert.core.KerasBertException

/**
 * A part of a text that is too long for one row.
 *
 * @property start its first token.
 * @property end the token after its last one.
 */
data class Window(val start: Int, val end: Int)

/**
 * Splits a text into overlapping windows. The last one ends with the text; a text without tokens has one empty window.
 *
 * @param tokens tokens in the text.
 * @param room the most tokens in a window.
 * @param stride tokens between the starts of two windows: BERT's `doc_stride`, not the overlap that Hugging Face calls stride.
 * @throws KerasBertException when [room] is below 1, or [stride] is not from 1 to [room].
 */
fun windows(tokens: Int, room: Int, stride: Int): List<Window> {
    if (room < 1) throw KerasBertException("expected room for at least one token in a window, received $room")
    if (stride !in 1..room) {
        throw KerasBertException("expected a stride from 1 to $room, the tokens of a window, received $stride")
    }
    val windows = ArrayList<Window>()
    var start = 0
    while (true) {
        windows.add(Window(start, minOf(start.toLong() + room, tokens.toLong()).toInt()))
        if (start.toLong() + room >= tokens) return windows
        start += stride
    }
}

/**
 * Returns the number of context tokens on the shorter side of a token; below 0 outside of the window.
 *
 * Of several windows, the one with the maximum is used for a token (Devlin et al. 2018, "max context").
 *
 * @param position the token's position in the text.
 * @param window the window.
 */
fun maxContext(position: Int, window: Window): Int = minOf(position - window.start, window.end - 1 - position)

/**
 * Returns the default number of tokens between the starts of two windows.
 *
 * Windows overlap by a third of the row, for example 128 of 384 tokens, but at most by half of [room].
 *
 * @param length the most tokens in a row.
 * @param room the most tokens in a window.
 */
fun defaultStride(length: Int, room: Int): Int = room - minOf(length / 3, room / 2)
