"""Truncation of one or two texts to a maximum length.

The counts equal those of truncation in `tokenizers`, which is not used for two reasons. It is a setting of the shared engine, and it
builds every piece that was cut off: for two long texts all combinations of them.
"""

from kerasbert.arguments import check_choice
from kerasbert.errors import KerasBertError

WHOLE = 1 << 30  # more tokens than any text has: a `max_length` that truncates nothing
TRUNCATIONS = ("longest_first", "only_first", "only_second")


def text_budget(max_length: int, special: int, truncation: str, paired: bool) -> int:
    """Return the number of tokens that the texts of a sequence may have.

    Args:
        max_length: The maximum length of a sequence.
        special: Number of its special tokens.
        truncation: One of `TRUNCATIONS`.
        paired: True for pairs of texts.

    Raises:
        KerasBertError: When `truncation` is unknown, "only_second" is used without pairs, or `max_length` is too small or no integer.
    """
    check_choice(truncation, "truncation to be one of", TRUNCATIONS)
    if truncation == "only_second" and not paired:
        raise KerasBertError('expected pairs for truncation="only_second", received single texts')
    if not hasattr(max_length, "__index__") or max_length < special:
        kind = "pairs" if paired else "texts"
        raise KerasBertError(
            f"expected max_length to be a whole number of at least {special}, the special tokens of {kind}, "
            f"received {max_length!r}"
        )
    return int(max_length) - special


def truncated_lengths(first: int, second: int, budget: int, truncation: str, row: int) -> tuple[int, int]:
    """Return the lengths of two texts after truncation.

    Args:
        first: Tokens of the first text.
        second: Tokens of the second text.
        budget: The maximum number of tokens of both.
        truncation: One of `TRUNCATIONS`.
        row: The index of the pair, for the error.

    Raises:
        KerasBertError: When the text that must not be truncated exhausts the budget.
    """
    if first + second <= budget:
        return first, second
    if truncation == "longest_first":
        short = min(first, second)
        if 2 * short > budget:
            short, long = budget // 2, budget - budget // 2
        else:
            long = budget - short
        # Of two equally long texts, the second one keeps the odd token.
        return (long, short) if first > second else (short, long)
    other = second if truncation == "only_first" else first
    if other >= budget:
        raise KerasBertError(
            f'expected truncation="{truncation}" to leave tokens of both texts, received row {row}, whose other '
            f"text has {other} tokens where there is room for {budget}; raise max_length, or use longest_first"
        )
    return (budget - other, other) if truncation == "only_first" else (other, budget - other)
