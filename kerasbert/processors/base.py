"""The base of all processors: examples -> features -> raw results -> predictions and metrics, without TensorFlow.

The same code serves a Keras model and a `.tflite` file:

x --examples--> examples --features--> token ids --(the model)--> outputs --raw_result--> raw results --predictions--> records for people
                     y --encode_labels--> labels as the loss takes them                               --metrics--> the task's metrics
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from kerasbert.data.reading import FileOptions, read_texts
from kerasbert.errors import KerasBertError
from kerasbert.processors.class_metrics import ClassMetrics
from kerasbert.processors.contributions import Contributions
from kerasbert.processors.display import Display
from kerasbert.processors.features import Features
from kerasbert.text import Tokenizer

RawResult = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Processor:
    """The base of all processors: what a task reads and answers.

    A subclass adds its settings as fields with defaults; they are JSON-able and travel in a `.tflite` file's metadata.

    Attributes:
        labels: Names of the classes in the order of the outputs, where there are any.
        name: The processor's name in metadata and saved folders.
        outputs: The exported file's output names.
        output_rank: Axes of each output, the batch included.
        per_token: Whether outputs have an axis of tokens.
        compared_as: How raw results of two models are compared: `single_label` (same arg-max), `multi_label`, `regression` or `embedding`.
        second_input: What a second text beside the first is: none, a `pair`, the `context` of a question, or the `choices` of a prompt.
        truncated_items: The word for examples, in the plural, in the note that some were cut.
        default_length: Tokens of the longest row where nobody says another.
        self_supervised: Whether labels are made of the texts themselves, anew for each batch.
        needs_labels: Whether training needs labels in the data.
        learns_labels: Whether the labels' names are found in the training data.
        label_dtype: The dtype of one row's encoded label, for `tf.data` pipelines of texts; None where it is not one value a class.
        reader: A path, columns and options to a table; see `kerasbert.data.reading`.
        display: How predictions are shown.
    """

    labels: tuple[str, ...] | None = None

    name: ClassVar[str]
    outputs: ClassVar[tuple[str, ...]]
    output_rank: ClassVar[int] = 2
    per_token: ClassVar[bool] = False
    compared_as: ClassVar[str] = "single_label"
    second_input: ClassVar[Literal["none", "pair", "context", "choices"]] = "pair"
    truncated_items: ClassVar[str] = "texts"
    default_length: ClassVar[int] = 128
    self_supervised: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = True
    learns_labels: ClassVar[bool] = False
    label_dtype: ClassVar[Literal["int32", "float32"] | None] = None
    label_rank: ClassVar[int] = 1
    reader: ClassVar[Callable] = staticmethod(read_texts)
    display: ClassVar[Display]

    @classmethod
    def read(cls, path: str | os.PathLike, options: object | None = None, **changes: Any) -> Any:
        """Reads a data file as this processor takes it.

        Args:
            path: The file.
            options: Columns, limits and the like; anything with the attributes of `FileOptions`.
            changes: Attributes of `FileOptions` in place of those of `options`, such as `max_rows=100`.

        Returns:
            A table of `kerasbert.data`: examples as `x`, labels or None as `y`.

        Raises:
            KerasBertError: When a column is named that such files do not have, and where the reader finds a fault.
        """
        return cls.reader(path, replace(FileOptions.of(options), **changes))

    @classmethod
    def label_names(cls, y: Any) -> tuple[str, ...] | None:
        """The labels of some training data in the order of the outputs; None for a processor without labels.

        Raises:
            KerasBertError: When no model can be trained on them.
        """
        return None

    def check_labels(self, y: Any, examples: Sequence) -> None:
        """Checks labels without tokens.

        Raises:
            KerasBertError: When `encode_labels` would refuse one; it names the first.
        """

    def examples(self, x: Any) -> list:
        """A user's data as a list with one entry an example.

        Raises:
            KerasBertError: When an example is not one; it names the first.
        """
        raise NotImplementedError

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        """Token ids of the examples, in rows of at most `length` tokens."""
        raise NotImplementedError

    def scoring_features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        """The features that `metrics` is for: those of `features`, but with masks where the processor is self-supervised."""
        return self.features(examples, tokenizer, length)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        """Labels as the loss takes them.

        Returns:
            An array `(rows, ...)`; or a list of int32 arrays with one value a token, which are padded with `IGNORED` as the rows are; or a
            dict of such by output name.

        Raises:
            KerasBertError: When a label cannot be used; it names the first.
        """
        raise NotImplementedError

    def corrupt(
        self, inputs: dict[str, np.ndarray], tokenizer: Tokenizer, random: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """A packed batch with masks, and its labels `(batch, length)`; for self-supervised processors."""
        raise NotImplementedError

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        """The part of one row's outputs that predictions need.

        Args:
            outputs: Outputs of the row by name, without batch axis, padded as the model read them.
            features: All rows.
            row: The row's number.

        Returns:
            Arrays `(n, width)` by name, without padding.
        """
        return {name: np.atleast_2d(values) for name, values in outputs.items()}

    def comparable(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        """The arrays `(n, width)` by which two models are compared, one decision a line; see `compared_as` and `raw_result`."""
        return self.raw_result(outputs, features, row)

    def predictions(self, examples: Sequence, features: Features, raw_results: Sequence[RawResult]) -> list:
        """One prediction an example, JSON-able. `raw_results` has one entry a row."""
        raise NotImplementedError

    def metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> dict[str, float]:
        """The task's metrics by name; the first one chooses the best epoch. `y` is as `encode_labels` takes it."""
        raise NotImplementedError

    def contributions(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> Contributions | None:
        """What each example adds to the first of `metrics`; None where that is not known."""
        return None

    def class_metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> dict[str, ClassMetrics]:
        """Precision and recall of each class or entity type; empty for a processor without."""
        return {}

    def listing(self, top_k: int) -> Self:
        """A processor whose predictions list at least `top_k` classes, words or answers, where they list any."""
        return self

    def settings(self) -> dict[str, Any]:
        """The fields beside `labels`, for metadata."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "labels"}


def check_same_number(y: Sequence, examples: Sequence, what: str = "labels") -> None:
    """Checks that there is one entry of `y` for each example.

    Raises:
        KerasBertError: When there is not.
    """
    if len(y) != len(examples):
        raise KerasBertError(f"expected one of the {what} for each text, received {len(y)} for {len(examples)} texts")


def concatenate(raw_results: Sequence[RawResult], name: str) -> np.ndarray:
    """One output of all rows, `(n, width)`."""
    return np.concatenate([raw_result[name] for raw_result in raw_results])


def check_finite(raw_results: Sequence[RawResult]) -> None:
    """Checks that outputs hold neither NaN nor infinity: metrics of them would be those of a class at random.

    Raises:
        KerasBertError: When they do.
    """
    for name in raw_results[0] if raw_results else ():
        broken = [row for row, raw_result in enumerate(raw_results) if not np.isfinite(raw_result[name]).all()]
        if broken:
            raise KerasBertError(
                f"expected finite outputs to score, received NaN or infinity in {name!r} on {len(broken):,} of {len(raw_results):,} rows, "
                f"the first is row {broken[0]}; the model is damaged, or its training diverged"
            )
