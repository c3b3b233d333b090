"""The base of all processors: examples -> features -> raw results -> predictions and metrics, without TensorFlow.

The same code serves a Keras model and a `.tflite` file:

x --examples--> examples --features--> token ids --(the model)--> outputs --raw_result--> raw results --predictions--> readable records
                     y --encode_labels--> labels as the loss takes them                               --metrics--> the task's metrics
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from kerasbert.arguments import check_list
from kerasbert.data.file_options import FileOptions
from kerasbert.data.reading import read_texts
from kerasbert.errors import KerasBertError
from kerasbert.files.record import Record
from kerasbert.processors.class_metrics import ClassMetrics
from kerasbert.processors.contributions import Contributions
from kerasbert.processors.display import Display
from kerasbert.processors.features import Features
from kerasbert.text import Tokenizer

Inputs = dict[str, np.ndarray]  # of a batch: arrays `(batch, length)` by the name of the input
RawResult = Mapping[str, np.ndarray]  # of one row: arrays by the name of the output
RawResults = Sequence[RawResult]  # of all rows
LARGEST = 1 << 20  # whole number of a setting


@dataclass(frozen=True)
class Processor(Record):
    """The base of all processors: how a task's examples become features, and its outputs predictions.

    A subclass adds its settings as fields with defaults; they are JSON-able and saved in a `.tflite` file's metadata.

    Attributes:
        labels: Names of the classes in the order of the outputs, if there are any.
        name: The processor's name in metadata and saved folders.
        outputs: The exported file's output names.
        output_rank: Axes of each output, the batch included.
        per_token: Whether outputs have an axis of tokens.
        compared_as: How raw results of two models are compared: `single_label` (same arg-max), `multi_label`, `regression` or `embedding`.
        second_input: The second text of an example: none, a `pair`, the `context` of a question, or the `choices` of a prompt.
        truncated_items: The plural noun for examples in the note that some were truncated.
        default_length: Tokens in the longest row by default.
        self_supervised: Whether labels are made from the texts themselves, anew for each batch.
        needs_labels: Whether training needs labels in the data.
        learns_labels: Whether the label names come from the training data.
        label_dtype: The dtype of encoded labels in `tf.data` pipelines of texts. None: such pipelines have no label names.
        label_check: Checks one label as a user wrote it, and raises KerasBertError for an invalid one; None checks labels together only.
        label_rank: Axes of encoded labels in such pipelines, the batch included.
        not_tokenized: Names of settings beside the labels that features do not depend on.
        reader: A function of a path, columns and options to a dataset; see `kerasbert.data.reading`.
        display: How predictions are displayed.

    Example:
        ```python
        processor = task.processor
        processor.name, processor.labels, processor.outputs
        processor.examples(["a joy from start to end"])
        ```
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
    label_check: ClassVar[Callable[[Any], object] | None] = None
    not_tokenized: ClassVar[tuple[str, ...]] = ()
    reader: ClassVar[Callable] = staticmethod(read_texts)
    display: ClassVar[Display]

    def settings(self) -> dict[str, Any]:
        """Return the settings beside the labels, as `make_processor` takes them."""
        return {name: value for name, value in self.to_dict().items() if name != "labels"}

    @property
    def prefix(self) -> str:
        """The text that stands before each text when it is tokenized; empty for most processors."""
        return ""

    @property
    def prompt_texts(self) -> tuple[str, ...]:
        """All texts that may stand before a text."""
        return ()

    @classmethod
    def read(cls, path: str | os.PathLike, options: object | None = None, **changes: Any) -> Any:
        """Read a data file of the processor's examples.

        Args:
            path: The file.
            options: Columns, limits and the like; any object with the attributes of `FileOptions`.
            changes: Attributes of `FileOptions` in place of those of `options`, such as `max_rows=100`.

        Returns:
            A dataset of `kerasbert.data`: examples as `x`, labels or None as `y`.

        Raises:
            KerasBertError: When a named column does not exist, or the reader rejects the file.
        """
        return cls.reader(path, replace(FileOptions.of(options), **changes))

    @classmethod
    def read_parts(cls, path: str | os.PathLike, options: object | None, rows: int) -> Iterator[Any]:
        """Yield the examples of a data file, some rows at a time where its format has one on each line, else all at once.

        Args:
            path: The file.
            options: As for `read`.
            rows: Rows in a part.

        Yields:
            Datasets of `kerasbert.data`.

        Raises:
            KerasBertError: As for `read`.
        """
        parts = getattr(cls.reader, "parts", None)
        return iter((cls.read(path, options),)) if parts is None else parts(path, FileOptions.of(options), rows)

    @classmethod
    def label_names(cls, y: Any) -> tuple[str, ...] | None:
        """Return the label names of some training data in the order of the outputs; None for a processor without labels.

        Args:
            y: The labels of the training data.

        Returns:
            The names, or None.

        Raises:
            KerasBertError: When no model can be trained on them.
        """
        return None

    @classmethod
    def settings_of(cls, y: Any) -> dict[str, Any]:
        """Return the settings beside the labels that some training data determines; most processors have none.

        Args:
            y: The labels of the training data.

        Returns:
            The settings by name.
        """
        return {}

    def check_labels(self, y: Any, examples: Sequence) -> None:
        """Check labels without tokenizing the examples.

        Args:
            y: Labels.
            examples: The examples, as `examples` returns them.

        Raises:
            KerasBertError: When `encode_labels` would reject a label; it names the first one.
        """

    def examples(self, x: Any) -> list:
        """Return a user's data as a list with one entry for each example.

        Args:
            x: The data, such as a list of texts.

        Raises:
            KerasBertError: When an entry is not an example; it names the first one.
        """
        raise NotImplementedError

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        """Tokenize examples, in rows of at most `length` tokens.

        Args:
            examples: The examples, as `examples` returns them.
            tokenizer: The tokenizer.
            length: Tokens in the longest row.

        Returns:
            The features.
        """
        raise NotImplementedError

    def scoring_features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        """Tokenize examples for `metrics`: as `features`, but a self-supervised processor masks tokens.

        Args:
            examples: The examples, as `examples` returns them.
            tokenizer: The tokenizer.
            length: Tokens in the longest row.

        Returns:
            The features.
        """
        return self.features(examples, tokenizer, length)

    def feature_settings(self, scoring: bool = False) -> tuple:
        """Return what the features depend on, beside the examples, the tokenizer and the length.

        Args:
            scoring: Whether the features are those of `scoring_features`.
        """
        kind = type(self)
        names = [field.name for field in fields(self) if field.name not in ("labels", *self.not_tokenized)]
        masks = scoring and kind.scoring_features is not Processor.scoring_features
        return kind, masks, self.prefix, *(getattr(self, name) for name in names)

    def fits(self, features: Features, length: int) -> bool:
        """Return whether the features would be the same with rows of at most `length` tokens.

        Args:
            features: The features of longer rows, one row for each example, in which none is cut.
            length: Tokens in the longest row.
        """
        return int(features.lengths.max()) <= length

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        """Encode labels as the loss takes them.

        Args:
            y: Labels in any form that the processor accepts.
            examples: The examples.
            features: Their features.

        Returns:
            An array `(rows, ...)`; or a list of int32 arrays with one value for each token, to be padded with `IGNORED`; or a dict of these
            by output name.

        Raises:
            KerasBertError: When a label cannot be used; it names the first one.
        """
        raise NotImplementedError

    def corrupt(
        self, inputs: Inputs, tokenizer: Tokenizer, random: np.random.Generator, alignment: Sequence[Any] = ()
    ) -> tuple[Inputs, np.ndarray]:
        """Mask tokens of a packed batch, for self-supervised processors.

        Args:
            inputs: int32 arrays `(batch, length)` by input name.
            tokenizer: The tokenizer.
            random: The random generator that chooses the tokens.
            alignment: The alignment of each row, see `Features`; empty for packed inputs of the user's.

        Returns:
            The inputs with masks, and the labels `(batch, length)`.
        """
        raise NotImplementedError

    def output_form(self, name: str) -> tuple[int, bool, int | None]:
        """Return the axes of an output with the batch, whether one counts tokens, and its width; None for any width.

        Args:
            name: One of `outputs`.
        """
        width = len(self.labels) if self.labels and name == self.outputs[0] else None
        return self.output_rank, self.per_token, width

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        """Select the part of one row's outputs that predictions need.

        Args:
            outputs: Outputs of the row by name, without batch axis, padded as the inputs were.
            features: All rows.
            row: The row's number.

        Returns:
            Arrays `(n, width)` by name, without padding.
        """
        return {name: np.atleast_2d(outputs[name]) for name in self.outputs if name in outputs}

    def comparable(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        """Select the arrays `(n, width)` by which two models are compared, one decision a line; see `compared_as` and `raw_result`.

        Args:
            outputs: Outputs of the row by name, without batch axis, padded as the inputs were.
            features: All rows.
            row: The row's number.

        Returns:
            Arrays `(n, width)` by name.
        """
        return self.raw_result(outputs, features, row)

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        """Return one JSON-able prediction for each example.

        Args:
            examples: The examples.
            features: Their features.
            raw_results: The raw result of each row.

        Returns:
            The predictions.
        """
        raise NotImplementedError

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute the task's metrics by name; the first one chooses the best epoch, which has the largest value.

        Args:
            y: Labels, as `encode_labels` takes them.
            examples: The examples.
            features: Their features, of `scoring_features`.
            raw_results: The raw result of each row.

        Returns:
            The metrics by name.
        """
        raise NotImplementedError

    def contributions(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> Contributions | None:
        """Compute the contribution of each example to the first of `metrics`; None where it is unknown.

        Args:
            y: Labels, as `encode_labels` takes them.
            examples: The examples.
            features: Their features, of `scoring_features`.
            raw_results: The raw result of each row.

        Returns:
            The contributions, or None.
        """
        return None

    def decisions(
        self, examples: Sequence, features: Features, raw_results: RawResults
    ) -> list[tuple[Any, ...]] | np.ndarray | None:
        """Return what a model decides for each example, to compare models with other tokenizers, or with labels in another order.

        Args:
            examples: The examples.
            features: Their features, of `scoring_features`.
            raw_results: The raw result of each row.

        Returns:
            A tuple for each example, of as many decisions for every model; numbers `(examples,)` where predictions are numbers; None where
            there is nothing to compare.
        """
        summary = self.display.summary
        if summary is None:
            return None
        return [(summary(each),) for each in self.predictions(examples, features, raw_results)]

    def confidences(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the probability of each example's prediction, and whether it is right; None where predictions have none.

        Args:
            y: Labels, as `encode_labels` takes them.
            examples: The examples.
            features: Their features, of `scoring_features`.
            raw_results: The raw result of each row.

        Returns:
            Arrays `(examples,)` of floats and of bool, or None.
        """
        return None

    def class_metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> dict[str, ClassMetrics]:
        """Compute precision and recall of each class or entity type; empty for a processor without classes.

        Args:
            y: Labels, as `encode_labels` takes them.
            examples: The examples.
            features: Their features, of `scoring_features`.
            raw_results: The raw result of each row.

        Returns:
            The metrics by class.
        """
        return {}

    def effective_settings(self) -> dict[str, Any]:
        """Return the settings that decide features, predictions and metrics, labels left out; equal ones predict the same.

        A subclass leaves out a setting that has no effect beside the others.
        """
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "labels"}

    def probes(self, examples: Sequence, tokenizer: Tokenizer) -> list | None:
        """Return examples like these from which `predictions` can be made; None for a processor that takes any example.

        Args:
            examples: The examples, as `examples` returns them.
            tokenizer: The tokenizer.
        """
        return None

    def notes_on_labels(self, y: Any, examples: Sequence) -> list[str]:
        """Return lines about labels that these settings can never predict.

        Args:
            y: Labels, as `encode_labels` takes them.
            examples: The examples.
        """
        return []

    def listing(self, top_k: int) -> Self:
        """Return a processor whose predictions list at least `top_k` classes, words or answers, where they list any.

        Args:
            top_k: The least number of entries.
        """
        return self


def check_same_number(y: Sized, examples: Sized, noun: str = "labels") -> None:
    """Check that `y` has one entry for each example.

    Args:
        y: The entries.
        examples: The examples.
        noun: The plural noun for the entries in the error.

    Raises:
        KerasBertError: When it has more or fewer, or is no list.
    """
    check_list(y, noun)
    if len(y) != len(examples):
        raise KerasBertError(f"expected one of the {noun} for each text, received {len(y)} for {len(examples)} texts")


def concatenate(raw_results: RawResults, name: str) -> np.ndarray:
    """Return one output of all rows, `(n, width)`."""
    return np.concatenate([raw_result[name] for raw_result in raw_results])
