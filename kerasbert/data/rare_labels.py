"""Labels that are seen once or twice: often a slip of the pen."""

import difflib
from collections import Counter
from collections.abc import Iterable

from kerasbert.data.headers import plain

_RARE, _OFTEN = 2, 10  # rows of a rare label, and of the commonest one where it is worth a word
_SHOWN = 5
_ALIKE = 0.75


def rare_labels(labels: Iterable[str]) -> list[str]:
    """A line about each of the labels that one or two rows have, with the common one that it resembles; nothing where all are rare."""
    counts = Counter(labels)
    if max(counts.values(), default=0) < _OFTEN:
        return []
    rare = sorted((count, name) for name, count in counts.items() if count <= _RARE)
    common = {plain(name): name for name, count in counts.items() if count > _RARE}
    told = [_told(name, count, common, counts) for count, name in rare[:_SHOWN]]
    if len(rare) > _SHOWN:
        told.append(f"{len(rare) - _SHOWN:,} more labels are seen once or twice")
    return told


def _told(name: str, count: int, common: dict[str, str], counts: Counter) -> str:
    times = "once" if count == 1 else "twice"
    near = difflib.get_close_matches(plain(name), common, 1, _ALIKE)
    what = f"; is it {common[near[0]]!r}, which {counts[common[near[0]]]:,} rows have?" if near else ""
    return f"the label {name!r} is seen {times}{what}"
