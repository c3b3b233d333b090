"""A sentence of words with tags, and what is wrong with one."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Sentence(NamedTuple):
    """One sentence of a file: the line on which it begins, its words, and one tag (a name or a number) for each word or None."""

    line: int
    words: list[str]
    tags: list[Any] | None


def tags_fault(tags: Sequence[str]) -> str:
    """Return the reason to refuse a sentence's tags, or "". Tags are names without white space."""
    invalid = next((tag for tag in tags if len(tag.split()) != 1), None)
    return "" if invalid is None else f"expected one tag for each word, received {invalid[:40]!r}"


def length_fault(words: Sequence[str], tags: Sequence[Any]) -> str:
    """Return the reason to refuse a sentence that has not one tag for each word."""
    return f"expected one tag a word, received {len(words)} words and {len(tags)} tags"
