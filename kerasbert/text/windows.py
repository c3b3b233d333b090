"""Long texts in overlapping parts."""

import numpy as np

from kerasbert.errors import KerasBertError


def windows(tokens: int, room: int, stride: int) -> list[tuple[int, int]]:
    """`(first, behind the last)` of windows of at most `room` tokens over a text of `tokens`.

    Each begins `stride` tokens after the one before. The last window ends with the text. A text without tokens has one empty window.

    Raises:
      KerasBertError: a `room` below 1, or a `stride` that is not from 1 to `room`.
    """
    if room < 1:
        raise KerasBertError(f"expected room for at least one token in a window, received {room}")
    if not 1 <= stride <= room:
        raise KerasBertError(f"expected a stride from 1 to {room}, the tokens of a window, received {stride}")
    found = []
    for start in range(0, max(tokens, 1), stride):
        found.append((start, min(start + room, tokens)))
        if start + room >= tokens:
            break
    return found


def best_context(positions, start: int, end: int):
    """How many tokens a window from `start` to `end` has on the poorer side of each token at `positions`, an int or an array of them.

    It is the "max context" by which Devlin et al. (2018) choose among windows; below 0 for a token that is not in the window.
    """
    return np.minimum(positions - start, end - 1 - positions)


def usual_step(length: int, room: int) -> int:
    """Tokens from the begin of a window to the next one's where none are asked for: windows overlap by a third of their row (128 tokens of
    384, as in the literature), but not by more than half of their `room`.
    """
    return room - min(length // 3, room // 2)
