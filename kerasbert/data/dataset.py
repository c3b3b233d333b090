"""The result of every reader: the examples and labels of a file, with their line numbers, the skipped rows, and their features."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.example_keys import example_keys, groups_of_equals
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.text.tokenizer import Tokenizer

_MAX_LABELS = 12  # in a description
_KEPT = 4  # tokenizations of a dataset that are kept


class FeatureMaker(Protocol):
    """What a dataset needs of a `Processor`."""

    def examples(self, x: Any) -> list: ...
    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Any: ...
    def scoring_features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Any: ...
    def feature_settings(self, scoring: bool) -> tuple: ...
    def fits(self, features: Any, length: int) -> bool: ...


@dataclass(frozen=True)
class _Made:
    """Features that were made, and everything that they depend on."""

    content: Any
    settings: tuple
    tokenizer: Tokenizer
    length: int
    examples: int
    features: Any

    def serves(self, content: Any, settings: tuple, tokenizer: Tokenizer) -> bool:
        if self.settings != settings or self.content != content:
            return False
        mine = self.tokenizer
        return mine is tokenizer or (
            type(mine) is type(tokenizer) and mine.effective_config() == tokenizer.effective_config()
        )


@dataclass(frozen=True)
class Dataset:
    """Examples of a file, or of Python lists, in the form that a task accepts.

    `task.fit(dataset)`, `task.score(dataset)` and `task.predict(dataset)` tokenize the examples once, and share the features.

    Attributes:
        path: The file.
        x: The examples; see the reader for their form. Pairs of texts are one list of 2-tuples, or a tuple of two lists.
        y: One label for each example, or None for a file without labels. Those of a table are kept as they are written there; a label of a
            JSON Lines file that is not a string is kept as JSON.
        columns: All columns of a table; numbers from "0" on without a header.
        lines: The line of the file on which each example begins, for files with lines.
        bad: The skipped rows, when skipping was requested.
        label_columns: The columns of 0 and 1, one for each label; empty if the labels stand in one column. The labels of each row are then
            a JSON list of the columns with 1.
        added: Further files, of examples that `with_unlabelled` has added.

    Example:
        ```python
        data = kb.data.read_table("train.tsv")
        data.texts[0], data.labels[0], data.columns
        print(data.describe())
        ```
    """

    path: Path
    x: Any
    y: Any = None
    columns: tuple[str, ...] = field(default=(), kw_only=True)
    lines: list[int] = field(default_factory=list, kw_only=True, compare=False, repr=False)
    bad: BadRows | None = field(default=None, kw_only=True, compare=False, repr=False)
    label_columns: tuple[str, ...] = field(default=(), kw_only=True)
    added: tuple[Path, ...] = field(default=(), kw_only=True, compare=False, repr=False)
    _made: list[_Made] = field(default_factory=list, init=False, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.x[0] if isinstance(self.x, tuple) else self.x)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the examples."""
        return self.path, *self.added

    @property
    def texts(self) -> list[str]:
        """The text of each row; of pairs the first one."""
        return self.x[0] if isinstance(self.x, tuple) else [_text(row) for row in self.x]

    @property
    def pairs(self) -> list[str] | None:
        """The second text of each row, or None."""
        if isinstance(self.x, tuple):
            return self.x[1]
        paired = all(isinstance(row, tuple) and len(row) == 2 and isinstance(row[1], str) for row in self.x)
        return [row[1] for row in self.x] if paired and len(self.x) else None

    @property
    def labels(self) -> Any:
        """The labels, `y`."""
        return self.y

    def features(
        self, processor: FeatureMaker, tokenizer: Tokenizer, length: int, scoring: bool = False
    ) -> tuple[list, Any]:
        """Tokenize the examples, or return the features of an earlier call.

        A call with equal settings, an equal tokenizer and equal examples returns the same features. So does one with a smaller length that
        cuts no example.

        Args:
            processor: The processor of the task.
            tokenizer: The tokenizer of the model.
            length: The maximum sequence length in tokens.
            scoring: Whether the features are for metrics; see `Processor.scoring_features`.

        Returns:
            The examples as the processor takes them, and their features.

        Raises:
            KerasBertError: When there is no example, or the processor rejects one.
        """
        examples = processor.examples(self.x)
        if not examples:
            raise KerasBertError("expected at least one text, received none; give the task some texts")
        content, settings = _frozen(self.x), processor.feature_settings(scoring)
        for made in [made for made in self._made if made.serves(content, settings, tokenizer)]:
            if made.length == length or (
                made.length > length and _is_whole(made) and processor.fits(made.features, length)
            ):
                return examples, made.features
        make = processor.scoring_features if scoring else processor.features
        features = make(examples, tokenizer, length)
        self._made.append(_Made(content, settings, tokenizer, length, len(examples), features))
        del self._made[:-_KEPT]
        return examples, features

    def describe(
        self, processor: FeatureMaker | None = None, tokenizer: Tokenizer | None = None, length: int | None = None
    ) -> str:
        """Return one line about the examples, their labels, and the median, 95th percentile and maximum of their lengths.

        Lengths are in characters, or in tokens when all arguments are given. In tokens, the line also counts examples that are
        truncated, and windows if some examples need several.

        Args:
            processor: The processor of the task.
            tokenizer: The tokenizer of the model.
            length: The maximum sequence length in tokens.

        Raises:
            KerasBertError: When a tokenizer comes without a processor or a length.
        """
        parts = [f"{self.path.name}: {len(self):,} {self.kind()}", self.label_summary()]
        parts += self._length_summary(processor, tokenizer, length)
        return "; ".join(part for part in [*parts, *self.remarks()] if part)

    def select(self, rows: Sequence[int]) -> Self:
        """Return the dataset with only these examples, in this order.

        Args:
            rows: Indices of the examples, from 0 on.
        """
        pick = lambda values: [values[row] for row in rows]  # noqa: E731 (a function of one line)
        x = tuple(map(pick, self.x)) if isinstance(self.x, tuple) else pick(self.x)
        y = None if self.y is None else pick(self.y)
        return replace(self, x=x, y=y, lines=pick(self.lines) if self.lines else [])

    def groups(self) -> list[list[int]]:
        """Return the indices of examples that a split must not separate, group by group: equal ones."""
        return groups_of_equals(example_keys(self.x))

    def kind(self) -> str:
        """Return the plural noun for the examples, such as "pairs"."""
        return "pairs" if isinstance(self.x, tuple) else "texts"

    def label_summary(self) -> str:
        """Return the labels with their counts; "" if there is nothing to report."""
        if self.y is None:
            return "no labels"
        if self.label_columns:
            counts = Counter({name: 0 for name in self.label_columns})
            counts.update(name for label in self.y for name in parse_json(label, self.path))
        else:
            counts = Counter(label for label in self.y if isinstance(label, str))
        if len(counts) > _MAX_LABELS:
            return f"{len(counts)} distinct labels"
        names = ", ".join(f"{label}: {count:,}" for label, count in sorted(counts.items()))
        return f"labels {names}" if names else ""

    def full_texts(self) -> list[str]:
        """Return all text of each example, for its length."""
        return list(map("".join, zip(*self.x, strict=True))) if isinstance(self.x, tuple) else self.texts

    def remarks(self) -> list[str]:
        """Return further notes about the file, such as dropped answers."""
        return []

    def _length_summary(
        self, processor: FeatureMaker | None, tokenizer: Tokenizer | None, length: int | None
    ) -> list[str]:
        if tokenizer is None:
            return [quantiles("characters", list(map(len, self.full_texts())))]
        if processor is None or length is None:
            raise KerasBertError(
                "expected a processor and a length beside the tokenizer, received none; pass all three, or no tokenizer"
            )
        features = self.features(processor, tokenizer, length)[1]
        truncated = f"{features.truncated:,} truncated ({features.truncated / max(len(self), 1):.1%})"
        windows = [f"{len(features):,} windows"] if len(features) > len(self) else []
        return [quantiles(f"tokens (at most {length})", features.lengths), truncated, *windows]


def labels_of(x: Any, y: Any = None) -> Any:
    """Return the labels of a call.

    Args:
        x: The examples, or a dataset.
        y: The labels; None takes those of a dataset.
    """
    return x.y if y is None and isinstance(x, Dataset) else y


def examples_of(x: Any) -> Any:
    """Return the examples of a dataset, or `x` itself.

    Args:
        x: The examples, or a dataset.
    """
    return x.x if isinstance(x, Dataset) else x


def quantiles(unit: str, lengths: Sequence[int] | np.ndarray) -> str:
    """Format the median, 95th percentile and maximum, such as `characters p50 40, p95 120, max 300`."""
    if not len(lengths):
        return f"{unit}: none"
    p50, p95 = np.percentile(lengths, [50, 95])
    return f"{unit} p50 {p50:,.0f}, p95 {p95:,.0f}, max {max(lengths):,}"


def _is_whole(made: _Made) -> bool:
    """Return whether each example has one row with all of its tokens."""
    return not made.features.truncated and len(made.features) == made.examples


def _text(row: Any) -> str:
    """Return the text of an example: a text, the first of several in a tuple, or a list of words."""
    return row if isinstance(row, str) else row[0] if isinstance(row, tuple) else " ".join(row)


def _frozen(value: Any) -> Any:
    """Return a copy that later changes of a list do not reach; two of equal examples are equal."""
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, Mapping):
        return tuple((name, _frozen(each)) for name, each in value.items())
    return tuple(value.tolist()) if isinstance(value, np.ndarray) else value


Table = TextTable = Dataset  # names of its earlier forms
