"""Labels that occur once or twice, which are often typing errors."""

import difflib
from collections import Counter
from collections.abc import Iterable

from kerasbert.data.headers import normalize_name

_RARE = 2  # rows of a rare label
_COMMON = 10  # rows of the most common label, from which on rare ones are worth a note
_MAX_NOTES = 5
_MIN_SIMILARITY = 0.75


def rare_labels(labels: Iterable[str]) -> list[str]:
    """Describe labels that differ in case or white space only, and labels that occur once or twice.

    Args:
        labels: The label of each row.

    Returns:
        One line about labels that differ so, and one for each rare label, with the common label that it resembles. Labels are rare only if
        one is common.
    """
    counts = Counter(labels)
    return [*_similar(counts), *_rare(counts)]


def _similar(counts: Counter[str]) -> list[str]:
    """Return one line for labels that differ in case or white space only."""
    forms: dict[str, list[str]] = {}
    common = max(counts.values(), default=0) >= _COMMON
    for name, count in counts.items():
        if common and count <= _RARE:  # described one by one
            continue
        forms.setdefault(" ".join(normalize_name(name).split()), []).append(name)
    pairs = [", ".join(map(repr, sorted(names))) for names in forms.values() if len(names) > 1]
    return (
        [f"labels that differ in case or white space only are different labels: {'; '.join(pairs[:_MAX_NOTES])}"]
        if pairs
        else []
    )


def _rare(counts: Counter[str]) -> list[str]:
    if max(counts.values(), default=0) < _COMMON:
        return []
    rare = sorted((count, name) for name, count in counts.items() if count <= _RARE)
    common = {normalize_name(name): name for name, count in counts.items() if count > _RARE}
    notes = [_describe(name, count, common, counts) for count, name in rare[:_MAX_NOTES]]
    if len(rare) > _MAX_NOTES:
        notes.append(f"{len(rare) - _MAX_NOTES:,} more labels are seen once or twice")
    return notes


def _describe(name: str, count: int, common: dict[str, str], counts: Counter[str]) -> str:
    times = "once" if count == 1 else "twice"
    similar = difflib.get_close_matches(normalize_name(name), common, 1, _MIN_SIMILARITY)
    question = f"; is it {common[similar[0]]!r}, which {counts[common[similar[0]]]:,} rows have?" if similar else ""
    return f"the label {name!r} is seen {times}{question}"
