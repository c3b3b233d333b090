"""How many tokens of one or two texts stay when a row is cut to a length.

The counts are those of `tokenizers`' truncation. It is not used itself: it is a setting of the shared engine, and it
builds every cut-off piece, for two long texts every combination of them.
"""

from kerasbert.errors import KerasBertError

TRUNCATIONS = ("longest_first", "only_first", "only_second")


def room(max_length: int, special: int, truncation: str, paired: bool) -> int:
    """The tokens of the texts that a row of `max_length` holds beside its `special` tokens.

    Raises:
      KerasBertError: an unknown `truncation`, "only_second" without pairs, or a `max_length` too small or no integer.
    """
    if truncation not in TRUNCATIONS:
        raise KerasBertError(f"expected truncation to be one of {', '.join(TRUNCATIONS)}, received {truncation!r}")
    if truncation == "only_second" and not paired:
        raise KerasBertError('expected pairs for truncation="only_second", received single texts')
    if not hasattr(max_length, "__index__") or max_length < special:
        kind = "pairs" if paired else "texts"
        raise KerasBertError(
            f"expected max_length to be a whole number of at least {special}, the special tokens of {kind}, "
            f"received {max_length!r}"
        )
    return int(max_length) - special


def kept(first: int, second: int, room: int, truncation: str, row: int) -> tuple[int, int]:
    """How many tokens stay of two texts that share `room`.

    Raises:
      KerasBertError: the text that must stay whole fills the room.
    """
    if first + second <= room:
        return first, second
    if truncation == "longest_first":
        short = min(first, second)
        if 2 * short > room:
            short, long = room // 2, room - room // 2
        else:
            long = room - short
        # Of two equally long texts the second keeps the odd token.
        return (long, short) if first > second else (short, long)
    other = second if truncation == "only_first" else first
    if other >= room:
        raise KerasBertError(
            f'expected truncation="{truncation}" to leave tokens of both texts, received row {row}, whose other '
            f"text has {other} tokens where there is room for {room}. Raise max_length or take longest_first."
        )
    return (room - other, other) if truncation == "only_first" else (other, room - other)
