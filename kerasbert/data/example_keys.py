"""Keys of examples, by which equal ones are found."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any


def example_keys(x: Any) -> list[Hashable]:
    """Return a key of each example; equal examples have equal keys.

    Args:
        x: Examples as a task takes them: a list, or a tuple of columns.
    """
    rows: Iterable[Any] = zip(*x, strict=True) if isinstance(x, tuple) else x
    return [hash(normalized(row)) for row in rows]


def groups_of_equals(keys: Iterable[Hashable]) -> list[list[int]]:
    """Return the rows of each distinct key, in the order of their first rows.

    Args:
        keys: The key of each row.
    """
    groups: dict[Hashable, list[int]] = {}
    for row, key in enumerate(keys):
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def normalized(example: Any) -> Hashable:
    """Return a hashable form of an example, without white space around and runs of it within texts.

    Args:
        example: A text, or a list, tuple or dict of texts.
    """
    if isinstance(example, str):
        return " ".join(example.split())
    if isinstance(example, Mapping):
        return tuple((str(key), normalized(example[key])) for key in sorted(example, key=str))
    if isinstance(example, list | tuple):
        return tuple(map(normalized, example))
    return str(example)
