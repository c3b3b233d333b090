"""Training data split into what is trained on and what is scored on."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from kerasbert.data.plain_text import PlainText
from kerasbert.data.squad import SquadTable
from kerasbert.data.tables import TextTable
from kerasbert.errors import KerasBertError


def share_of(text: str) -> float | None:
    """The share that a text such as `0.1` means; None for what is no number above 0 and below 1, such as a file's name."""
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 < share < 1 else None


def split(table, share: float, seed: int, stratify: bool = False):
    """A table's rows in two tables, training and dev; dev has the share of them. The same seed and file give the same split.

    Questions about one context stay together. stratify: give dev the same share of the rows of each label.

    Raises KerasBertError where one of the two would be empty.
    """
    groups = _groups(table)
    strata = [table.y[rows[0]] for rows in groups] if stratify and table.y is not None else [""] * len(groups)
    wanted = round(share * len(groups))
    if not 0 < wanted < len(groups):
        raise KerasBertError(
            f"{table.path}: expected enough rows to split off {share:g} of them, received {len(groups):,}; name a file as `dev=`"
        )
    chosen = _chosen(strata, wanted, np.random.default_rng(seed), keep=stratify)
    parts = ([], [])
    for number, rows in enumerate(groups):
        parts[number in chosen].extend(rows)
    return tuple(take(table, sorted(rows)) for rows in parts)


def take(table, rows: Sequence[int]):
    """The table with these rows alone."""

    def some(values):
        return values if values is None else [values[row] for row in rows]

    lines = some(table.lines) if table.lines else []
    if isinstance(table, TextTable):
        return replace(table, texts=some(table.texts), pairs=some(table.pairs), labels=some(table.labels), lines=lines)
    more = {}
    if isinstance(table, SquadTable):
        more["ids"] = tuple(some(table.ids))
    if isinstance(table, PlainText):
        begun, starts = None, []
        for place, row in enumerate(rows):
            document = int(np.searchsorted(table.starts, row, side="right"))
            if document != begun:
                starts.append(place)
            begun = document
        more["starts"] = tuple(starts)
    return replace(table, x=some(table.x), y=some(table.y), lines=lines, **more)


def _groups(table) -> list[list[int]]:
    """Rows that stay together."""
    if not isinstance(table, SquadTable):
        return [[row] for row in range(len(table))]
    by_context: dict[str, list[int]] = defaultdict(list)
    for row, (_, context) in enumerate(table.x):
        by_context[context].append(row)
    return list(by_context.values())


def _chosen(strata: Sequence[Hashable], wanted: int, random: np.random.Generator, keep: bool) -> set[int]:
    """`wanted` of the numbers, of each stratum its share, to a whole number by the largest remainders. keep: never a stratum's last one."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for number, stratum in enumerate(strata):
        members[stratum].append(number)
    exact = np.array([len(numbers) * wanted / len(strata) for numbers in members.values()])
    counts = np.floor(exact).astype(int)
    # Of equal remainders those of a random order come first.
    order = random.permutation(len(exact))
    largest = order[np.argsort(-(exact - counts)[order], kind="stable")]
    if keep:
        sizes = np.array([len(numbers) for numbers in members.values()])
        largest = largest[(counts + 1 < sizes)[largest]]
    counts[largest[: wanted - counts.sum()]] += 1
    return {
        int(number)
        for numbers, count in zip(members.values(), counts, strict=True)
        for number in random.permutation(numbers)[:count]
    }
