"""What every reader gives: examples and labels of a file, and what was found in it."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kerasbert.data.bad_rows import BadRows


@dataclass(frozen=True)
class Table:
    """Examples of a file as a task takes them; `task.fit(table)`, `task.score(table)` and `task.dataset(table)` know what to do with it.

    Attributes:
      path: the file.
      x: one example an entry, see the reader.
      y: one label an entry, or None for a file without labels.
      lines: the line of the file on which each example begins, where it has lines.
      bad: what was left out, where that was asked for.
    """

    path: Path
    x: list
    y: list | None
    lines: list[int] = field(default_factory=list, kw_only=True, compare=False, repr=False)
    bad: BadRows | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.x)

    def describe(self, processor=None, tokenizer=None, length: int | None = None) -> str:
        """One line: rows, labels, and how long the examples are at the median, the 95th percentile and at most.

        In characters; with a `Processor`, a tokenizer and a length in tokens, and how many examples are cut there or
        need more than one row.
        """
        found = [f"{self.path.name}: {len(self):,} {self.kind()}", self.told_labels()]
        found += told_lengths(self.x, self.texts(), processor, tokenizer, length)
        return "; ".join(part for part in [*found, *self.remarks()] if part)

    def kind(self) -> str:
        """What the examples are called, in the plural."""
        return "texts"

    def told_labels(self) -> str:
        """The labels and how many there are of each, in words; "" where that says nothing."""
        return "no labels" if self.y is None else ""

    def texts(self) -> list[str]:
        """Every example's text, both of a pair joined, for its length."""
        return self.x

    def remarks(self) -> list[str]:
        """What else a reader of the file should know, such as what was left out."""
        return []


def is_table(x) -> bool:
    """True for what readers give: examples as `x`, labels or None as `y`."""
    return hasattr(x, "x") and hasattr(x, "y") and hasattr(x, "describe")


def told_lengths(x, texts: list[str], processor=None, tokenizer=None, length: int | None = None) -> list[str]:
    """How long examples are, in characters of their texts; with a processor, a tokenizer and a length in tokens, and what that cuts."""
    if tokenizer is None:
        return [quantiles("characters", [len(text) for text in texts])]
    rows = processor.features(processor.examples(x), tokenizer, length)
    cut = f"{rows.truncated:,} cut ({rows.truncated / max(len(texts), 1):.1%})"
    windows = [f"{len(rows):,} windows"] if len(rows) > len(texts) else []
    return [quantiles(f"tokens (at most {length})", rows.lengths), cut, *windows]


def quantiles(what: str, lengths) -> str:
    """`characters p50 40, p95 120, max 300`."""
    if not len(lengths):
        return f"{what}: none"
    p50, p95 = np.percentile(lengths, [50, 95])
    return f"{what} p50 {p50:,.0f}, p95 {p95:,.0f}, max {max(lengths):,}"
