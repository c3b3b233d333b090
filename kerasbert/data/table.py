"""The result of every reader: the examples and labels of a file, with their line numbers and the skipped rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeGuard

import numpy as np

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.example_keys import example_keys, groups_of_equals
from kerasbert.errors import KerasBertError

if TYPE_CHECKING:
    from kerasbert.processors.base import Processor
    from kerasbert.text.tokenizer import Tokenizer


class Dataset(Protocol):
    """The interface of all reader results: `Table` and its subclasses, and `TextTable`.

    `task.fit(dataset)`, `task.score(dataset)` and `task.dataset(dataset)` accept any of them.

    Example:
        ```python
        from kerasbert.data import Dataset, read_table
        data: Dataset = read_table("train.tsv")
        task.score(data)["accuracy"]
        ```
    """

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def x(self) -> Any:
        """The examples in the form that the task accepts."""
        ...

    @property
    def y(self) -> list | None:
        """One label for each example, or None for a file without labels."""
        ...

    @property
    def lines(self) -> list[int]:
        """The line of the file on which each example begins; empty for files without lines."""
        ...

    @property
    def bad(self) -> BadRows | None:
        """The skipped rows."""
        ...

    def __len__(self) -> int: ...

    def describe(
        self, processor: "Processor | None" = None, tokenizer: "Tokenizer | None" = None, length: int | None = None
    ) -> str:
        """Return one line about the number of examples, their labels and their lengths.

        Args:
            processor: The processor of the task.
            tokenizer: The tokenizer of the model.
            length: The maximum sequence length in tokens.
        """
        ...

    def select(self, rows: Sequence[int]) -> Self:
        """Return the dataset with only these examples, in this order.

        Args:
            rows: Indices of the examples, from 0 on.
        """
        ...

    def groups(self) -> list[list[int]]:
        """Return the indices of examples that a split must not separate, group by group."""
        ...


@dataclass(frozen=True)
class Table:
    """Examples of a file in the form that a task accepts.

    Attributes:
        path: The file.
        x: The examples; see the reader for their form.
        y: One label for each example, or None for a file without labels.
        lines: The line of the file on which each example begins, for files with lines.
        bad: The skipped rows, when skipping was requested.

    Example:
        ```python
        data = kb.data.read_conll("train.conll")
        data.x[0], data.y[0], data.lines[0]
        print(data.describe())
        ```
    """

    path: Path
    x: list
    y: list | None
    lines: list[int] = field(default_factory=list, kw_only=True, compare=False, repr=False)
    bad: BadRows | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.x)

    def describe(
        self, processor: "Processor | None" = None, tokenizer: "Tokenizer | None" = None, length: int | None = None
    ) -> str:
        """Return one line about the examples, their labels, and the median, 95th percentile and maximum of their lengths.

        Lengths are in characters, or in tokens when all arguments are given. In tokens, the line also counts examples that are
        truncated, and windows if some examples need several.

        Args:
            processor: The processor of the task.
            tokenizer: The tokenizer of the model.
            length: The maximum sequence length in tokens.
        """
        parts = [f"{self.path.name}: {len(self):,} {self.kind()}", self.label_summary()]
        parts += length_summary(self.x, self.texts(), processor, tokenizer, length)
        return "; ".join(part for part in [*parts, *self.remarks()] if part)

    def select(self, rows: Sequence[int]) -> Self:
        """Return the table with only these examples, in this order.

        Args:
            rows: Indices of the examples, from 0 on.
        """
        y = None if self.y is None else [self.y[row] for row in rows]
        lines = [self.lines[row] for row in rows] if self.lines else []
        return replace(self, x=[self.x[row] for row in rows], y=y, lines=lines)

    def groups(self) -> list[list[int]]:
        """Return the indices of examples that a split must not separate, group by group: equal ones."""
        return groups_of_equals(example_keys(self.x))

    def kind(self) -> str:
        """Return the plural noun for the examples, such as "pairs"."""
        return "texts"

    def label_summary(self) -> str:
        """Return the labels with their counts; "" if there is nothing to report."""
        return "no labels" if self.y is None else ""

    def texts(self) -> list[str]:
        """Return the full text of each example, for its length. The texts of a pair are joined."""
        return self.x

    def remarks(self) -> list[str]:
        """Return further notes about the file, such as dropped answers."""
        return []


def is_table(x: object) -> TypeGuard[Dataset]:
    """Return True for the result of a reader: `x` holds examples, `y` labels or None."""
    return hasattr(x, "x") and hasattr(x, "y") and hasattr(x, "describe")


def length_summary(
    x: Any,
    texts: Sequence[str],
    processor: "Processor | None" = None,
    tokenizer: "Tokenizer | None" = None,
    length: int | None = None,
) -> list[str]:
    """Summarize the lengths of examples.

    Args:
        x: The examples as the processor accepts them.
        texts: The full text of each example.
        processor: The processor of the task; required with a tokenizer.
        tokenizer: Count its tokens instead of characters.
        length: The maximum sequence length in tokens; required with a tokenizer.

    Returns:
        The quantiles; with a tokenizer also the number of truncated examples, and of windows if there are more than examples.

    Raises:
        KerasBertError: When a tokenizer comes without a processor or a length.
    """
    if tokenizer is None:
        return [quantiles("characters", [len(text) for text in texts])]
    if processor is None or length is None:
        raise KerasBertError(
            "expected a processor and a length beside the tokenizer, received none; pass all three, or no tokenizer"
        )
    features = processor.features(processor.examples(x), tokenizer, length)
    truncated = f"{features.truncated:,} truncated ({features.truncated / max(len(texts), 1):.1%})"
    windows = [f"{len(features):,} windows"] if len(features) > len(texts) else []
    return [quantiles(f"tokens (at most {length})", features.lengths), truncated, *windows]


def quantiles(unit: str, lengths: Sequence[int] | np.ndarray) -> str:
    """Format the median, 95th percentile and maximum, such as `characters p50 40, p95 120, max 300`."""
    if not len(lengths):
        return f"{unit}: none"
    p50, p95 = np.percentile(lengths, [50, 95])
    return f"{unit} p50 {p50:,.0f}, p95 {p95:,.0f}, max {max(lengths):,}"
