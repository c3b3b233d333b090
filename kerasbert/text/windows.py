"""Overlapping windows over long texts."""

import numpy as np

from kerasbert.errors import KerasBertError


def windows(tokens: int, room: int, stride: int) -> list[tuple[int, int]]:
    """Split a text into windows.

    The last window ends with the text. A text without tokens has one empty window.

    Args:
        tokens: Tokens in the text.
        room: Maximum tokens in a window.
        stride: Tokens between the starts of two windows: BERT's `doc_stride`, not the overlap that Hugging Face calls stride.

    Returns:
        (start, end) of each window.

    Raises:
        KerasBertError: When `room` is below 1, or `stride` is not from 1 to `room`.
    """
    if room < 1:
        raise KerasBertError(f"expected room for at least one token in a window, received {room}")
    if not 1 <= stride <= room:
        raise KerasBertError(f"expected a stride from 1 to {room}, the tokens of a window, received {stride}")
    bounds = []
    for start in range(0, max(tokens, 1), stride):
        bounds.append((start, min(start + room, tokens)))
        if start + room >= tokens:
            break
    return bounds


def max_context(positions: np.ndarray | int, start: int, end: int) -> np.ndarray:
    """Return the number of context tokens on the shorter side of each token.

    Of several windows, the one with the maximum is used for a token (Devlin et al. 2018, "max context").

    Args:
        positions: Positions of tokens in the text, of any shape.
        start: Start of the window.
        end: End of the window.

    Returns:
        An integer for each position; below 0 outside of the window.
    """
    return np.minimum(positions - start, end - 1 - positions)


def default_stride(length: int, room: int) -> int:
    """Return the default number of tokens between the starts of two windows.

    Windows overlap by a third of the sequence length, for example 128 of 384 tokens as in the literature, but at most by half of `room`.

    Args:
        length: Maximum sequence length.
        room: Maximum tokens in a window.
    """
    return room - min(length // 3, room // 2)
