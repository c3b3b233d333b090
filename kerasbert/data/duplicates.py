"""Equal examples: within a data set, with different labels, and in two data sets."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from kerasbert.data.dataset import Dataset
from kerasbert.data.example_keys import example_keys, normalized
from kerasbert.data.label_sets import split_labels

_EXAMPLES = 3  # in a message


@dataclass(frozen=True)
class Duplicates:
    """The equal examples of training data, and of development data.

    Attributes:
        repeated: Number of training rows whose example occurs in an earlier row.
        contradicting: For each example with different labels the lines of two rows that differ (row numbers for files without lines).
        shared: Number of development rows whose example occurs in the training data; None without development data.

    Example:
        ```python
        found = kb.data.find_duplicates(kb.data.read_table("train.tsv"))
        found.repeated, found.contradicting
        ```
    """

    repeated: int
    contradicting: tuple[tuple[int, int], ...]
    shared: int | None = None

    def describe(self, train: Dataset, dev: Dataset | None = None) -> list[str]:
        """Return a line about each kind of duplicates that there is.

        Args:
            train: The training data.
            dev: The development data.
        """
        lines = []
        if self.repeated:
            rows = f"{self.repeated:,} of {len(train):,} rows repeat{'s' if self.repeated == 1 else ''} an earlier one"
            lines.append(f"{train.path.name}: {rows}")
        if self.contradicting:
            pairs = ", ".join(f"{first} and {second}" for first, second in self.contradicting[:_EXAMPLES])
            more = ", ..." if len(self.contradicting) > _EXAMPLES else ""
            examples = (
                f"{len(self.contradicting):,} repeated example{'s have' if len(self.contradicting) > 1 else ' has'}"
            )
            lines.append(f"{train.path.name}: {examples} different labels, such as those of lines {pairs}{more}")
        if self.shared and dev is not None:
            rows = (
                f"{self.shared:,} of {len(dev):,} rows {'is' if self.shared == 1 else 'are'} in {train.path.name} too"
            )
            lines.append(f"{dev.path.name}: {rows}; scores on them are higher than on new texts")
        return lines


def find_duplicates(train: Dataset, dev: Dataset | None = None) -> Duplicates:
    """Find equal examples. White space within and around texts is ignored.

    Args:
        train: The training data.
        dev: The development data.

    Returns:
        Their numbers.

    Example:
        ```python
        train, dev = kb.data.read_table("train.tsv"), kb.data.read_table("dev.tsv")
        kb.data.find_duplicates(train, dev).shared  # rows of dev.tsv that are in train.tsv too
        ```
    """
    first_rows: dict[Hashable, int] = {}
    contradicting: dict[Hashable, tuple[int, int]] = {}
    repeated = 0
    labels = None if train.y is None else [_label_key(label) for label in train.y]
    for row, key in enumerate(example_keys(train.x)):
        first = first_rows.setdefault(key, row)
        if first == row:
            continue
        repeated += 1
        if labels is not None and labels[first] != labels[row]:
            contradicting.setdefault(key, (_line(train, first), _line(train, row)))
    shared = None if dev is None else sum(key in first_rows for key in example_keys(dev.x))
    return Duplicates(repeated, tuple(contradicting.values()), shared)


def _label_key(label: Any) -> Hashable:
    """Return a key of a label; sets of labels in another order are equal, and answers of several annotators are not compared."""
    if isinstance(label, Mapping):
        return None
    if isinstance(label, str) and label.lstrip().startswith("["):
        return frozenset(split_labels(label))
    return normalized(label)


def _line(table: Dataset, row: int) -> int:
    return table.lines[row] if row < len(table.lines) else row
