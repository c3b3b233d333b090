"""Long texts in overlapping parts."""

from kerasbert.errors import KerasBertError


def windows(tokens: int, room: int, stride: int) -> list[tuple[int, int]]:
    """`(first, behind the last)` of windows of at most `room` tokens over a text of `tokens`, each beginning `stride` tokens after the last.

    The last window ends with the text. A text without tokens has one empty window.

    Raises:
      KerasBertError: a `room` below 1, or a `stride` that is not from 1 to `room`.
    """
    if room < 1:
        raise KerasBertError(f"Expected room for at least one token in a window. Received: {room}.")
    if not 1 <= stride <= room:
        raise KerasBertError(f"Expected a stride from 1 to {room}, the tokens of a window. Received: {stride}.")
    found = []
    for start in range(0, max(tokens, 1), stride):
        found.append((start, min(start + room, tokens)))
        if start + room >= tokens:
            break
    return found


def best_context(position: int, start: int, end: int) -> int:
    """How many tokens a window from `start` to `end` has on the poorer side of the token at `position` (Devlin et al. 2018's "max context")."""
    return min(position - start, end - 1 - position)
