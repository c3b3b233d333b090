"""Predicts with a `.tflite` file, without TensorFlow: texts in, the predictions of the Keras task out."""

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from kerasbert.console.output import note
from kerasbert.data.dataset import examples_of, labels_of
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.runtime.isolated_model import IsolatedFile
from kerasbert.export.runtime.models_by_length import ModelsByLength
from kerasbert.export.runtime.padding import padding_note
from kerasbert.export.runtime.runnable_model import RunnableModel
from kerasbert.export.tflite import metadata as packed_metadata
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.tflite.tflite_file import check_structure
from kerasbert.processors import Features, Processor, RawResult
from kerasbert.processors.base import check_finite
from kerasbert.sharing import PerProcess
from kerasbert.text import Tokenizer

_DEFAULT_LENGTH = 128  # tokens, if neither file nor tokenizer has a limit

Report: TypeAlias = Callable[[int, int], None]  # called with the rows done and all rows
_MakeFeatures: TypeAlias = Callable[[Sequence, Tokenizer, int], Features]


def open_predictor(
    path: str | os.PathLike, threads: int = 1, kernels: str = "xnnpack", isolated: bool = False
) -> "Predictor":
    """Open a file with its tokenizer and processor.

    Args:
        path: The file.
        threads: CPU threads of the runtime.
        kernels: The kernel set, see `open_model`.
        isolated: Whether the file runs in a process of its own. A damaged or hostile file that passes verification may crash the runtime,
            hang it or take all memory; in its own process that is a KerasBertError. It costs some tenths of a second, and microseconds a
            row.

    Raises:
        KerasBertError: when the file is damaged, or has no kerasbert metadata.
    """
    metadata = packed_metadata.require(path, "to run it on texts")
    check_structure(path)
    process = IsolatedFile(path, threads, kernels) if isolated else None  # starts while the tokenizer is built
    predictor_class = Predictor if metadata.inputs == packed_metadata.IDS else TextPredictor
    return predictor_class(path, metadata, metadata.processor, tokenizer_of(metadata), threads, kernels, process)


def tokenizer_of(metadata: Metadata) -> Tokenizer:
    """Build the tokenizer of a file.

    Raises:
        KerasBertError: when the metadata describes no valid tokenizer.
    """
    from kerasbert.text import tokenizer_from_config

    try:
        return tokenizer_from_config({**metadata.tokenizer, "vocabulary": list(metadata.vocabulary or ())})
    except KerasBertError:
        raise
    except Exception as error:  # the metadata may be hostile, and tokenization engines have exceptions of their own
        raise KerasBertError(
            f"expected settings of a tokenizer in the file's {packed_metadata.DESCRIPTION}, received others "
            f"({type(error).__name__}: {error}); convert the model again"
        ) from error


@dataclass(frozen=True)
class Predictor:
    """A file with its tokenizer and processor.

    Attributes:
        path: The file.
        metadata: The file's metadata.
        processor: Makes features of examples, and predictions and metrics of outputs.
        tokenizer: The file's tokenizer.
        threads: CPU threads of the runtime.
        kernels: The kernel set, see `open_model`.
        process: The process that the file runs in; None for this one.
    """

    path: str | os.PathLike
    metadata: Metadata
    processor: Processor
    tokenizer: Tokenizer
    threads: int = 1
    kernels: str = "xnnpack"
    process: IsolatedFile | None = None
    _notes: list[str] = field(default_factory=list, repr=False, compare=False)
    # An interpreter does not run in a forked process, which opens the file anew.
    _opened: PerProcess = field(default_factory=lambda: PerProcess("a model"), repr=False, compare=False)

    def _models(self) -> ModelsByLength:
        opens = functools.partial(open_model, self.path, self.threads, self.kernels, verified=True)
        return ModelsByLength.of_metadata(self.metadata, self.length, self.process.open if self.process else opens)

    @property
    def length(self) -> int:
        """Tokens of the longest row: the file's length; of a resizable file that of the task it was converted from."""
        length = self.metadata.sequence_length or self.metadata.row_length
        return length or min(self.tokenizer.model_max_length or _DEFAULT_LENGTH, _DEFAULT_LENGTH)

    def predictions(self, x: Any, report: Report | None = None, processor: Processor | None = None) -> list:
        """Predict, as `Task.predictions` does.

        Args:
            x: Examples as the processor takes them, or a table of `kerasbert.data`.
            report: Called with the rows done and all rows.
            processor: Makes features and predictions in place of the file's own processor, to list more of them or for another prompt.

        Returns:
            One prediction an example, JSON-able.
        """
        examples, features = self._features(x, (processor or self.processor).features)
        raw_results = self._raw_results(examples, features, report)
        return (processor or self.processor).predictions(examples, features, raw_results)

    def score(self, x: Any, y: Any = None, report: Report | None = None) -> dict[str, float]:
        """Compute the task's metrics by name, the main one first.

        Args:
            x: Examples as the processor takes them, or a table of `kerasbert.data`.
            y: Labels as the processor takes them; None takes those of the table.
            report: Called with the rows done and all rows.

        Raises:
            KerasBertError: when there are no labels, or outputs are not finite.
        """
        y = labels_of(x, y)
        if y is None and not self.processor.self_supervised:
            raise KerasBertError(
                "expected labels to score predictions, received none; pass `y`, or a table with labels"
            )
        examples, features = self._features(x, self.processor.scoring_features)
        for line in self.processor.notes_on_labels(y, examples):
            if line not in self._notes:
                self._notes.append(line)
                note(line)
        raw_results = self._raw_results(examples, features, report)
        check_finite(raw_results)
        return self.processor.metrics(y, examples, features, raw_results)

    def raw_results(self, features: Features, report: Report | None = None) -> list[RawResult]:
        """Return the raw result of each row, in the order of the features."""
        return self._raw_results((), features, report)

    def row_outputs(
        self, examples: Sequence, features: Features, report: Report | None = None
    ) -> Iterator[tuple[int, RawResult, int]]:
        """Run each row at the shortest length of the file that it fits, rows of one length in sequence.

        Args:
            examples: The examples.
            features: Their features.
            report: Called with the rows done and all rows.

        Yields:
            A row's number, its outputs by name without batch axis, and the tokens of the row that ran, padding included.
        """
        models: ModelsByLength = self._opened.get(self._models)
        by_length = map(int, np.argsort(features.lengths, kind="stable"))  # each model runs all its rows in sequence
        done = 0
        for model, rows in itertools.groupby(by_length, lambda row: models.for_row(int(features.lengths[row]))):
            input_rows, output_rows = itertools.tee(rows)
            outputs = model.run_each(self._inputs(model, features, input_rows))
            for row in output_rows:
                yield row, _joined(list(itertools.islice(outputs, features.group)), features), model.length or 0
                done += 1
                if report is not None:
                    report(done, len(features))

    def _inputs(self, model: RunnableModel, features: Features, rows: Iterable[int]) -> Iterator[dict[str, np.ndarray]]:
        """Yield the model's inputs for the token lists of some rows, one list after the other."""
        if (length := model.length) is None:
            raise KerasBertError(
                f"expected {model.name} to take rows of tokens, received others; convert the model again"
            )
        is_checked = False
        for row in rows:
            packed = features.pack([row], length, self.tokenizer.pad_id)
            if not is_checked:
                _check_ports(model, packed, self.processor)
                is_checked = True
            arrays = {name: packed[name].reshape(-1, 1, length) for name in model.inputs}
            for number in range(features.group):
                yield {name: values[number] for name, values in arrays.items()}

    def _raw_results(self, examples: Sequence, features: Features, report: Report | None) -> list[RawResult]:
        """Return the raw result of each row, in the order of the features."""
        raw_results: list[RawResult] = [{}] * len(features)
        for row, outputs, _ in self.row_outputs(examples, features, report):
            raw_results[row] = self.processor.raw_result(outputs, features, row)
        return raw_results

    def _features(self, x: Any, make_features: _MakeFeatures) -> tuple[Sequence, Features]:
        """Return examples and their features; notes how many texts were cut, and whether the file pads much."""
        examples = self.processor.examples(examples_of(x))
        if not examples:
            raise KerasBertError("expected at least one text, received none; pass texts")
        features = make_features(examples, self.tokenizer, self.length)
        if features.truncated:
            note(
                f"note: {features.truncated:,} of {len(examples):,} {self.processor.truncated_items} are too long for {self.length} tokens "
                "and were truncated"
            )
        line = padding_note(self.metadata, features.lengths)
        if line and line not in self._notes:
            self._notes.append(line)
            note(line)
        return examples, features


class TextPredictor(Predictor):
    """A file with the tokenizer in its graph, which takes texts."""

    def predictions(self, x: Any, report: Report | None = None, processor: Processor | None = None) -> list:
        if processor is not None and processor.prefix:
            raise KerasBertError(
                f"expected no prompt for {self.path}, which takes texts, received one; put it before the texts"
            )
        return super().predictions(x, report, processor)

    def row_outputs(
        self, examples: Sequence, features: Features, report: Report | None = None
    ) -> Iterator[tuple[int, RawResult, int]]:
        model = self._opened.get(self._models).at(None)
        _check_ports(model, [packed_metadata.TEXT], self.processor)
        if model.inputs[packed_metadata.TEXT].dtype.kind not in "OSU":
            raise KerasBertError(
                f"expected an input of texts in {self.path}, as its metadata says, received one of "
                f"{model.inputs[packed_metadata.TEXT].dtype}; convert the model again"
            )
        for row, example in enumerate(examples):
            text, pair = example if isinstance(example, tuple) else (example, None)
            if pair is not None:
                raise KerasBertError(
                    f"expected one text an example for {self.path}, which takes texts, received a pair; use a file that takes ids"
                )
            yield row, _joined([model.compute({packed_metadata.TEXT: np.array([text])})], features), self.length
            if report is not None:
                report(row + 1, len(features))


def _check_ports(model: RunnableModel, inputs: Iterable[str], processor: Processor) -> None:
    """Check that a model fits a processor: some of these inputs, and outputs of the processor's names, ranks and number of labels.

    Raises:
        KerasBertError: when it does not.
    """
    _check_names("inputs", model, inputs, set(model.inputs) - set(inputs))
    _check_names("outputs", model, processor.outputs, set(processor.outputs) - set(model.outputs))
    for name in processor.outputs:
        shape = model.outputs[name].shape
        if len(shape) != processor.output_rank or (
            processor.per_token and model.length is not None and shape[1] != model.length
        ):
            raise KerasBertError(
                f"expected {name!r} of {model.name} as a model of the task type {processor.name!r} has it, received the shape {shape}; "
                "convert the model again"
            )
    width = model.outputs[processor.outputs[0]].shape[-1:]
    if processor.labels and width != (len(processor.labels),):
        raise KerasBertError(
            f"expected as many labels as classes in {model.name}, received {len(processor.labels)} labels and {processor.outputs[0]} of "
            f"width {' '.join(map(str, width)) or 'none'}; convert the model again"
        )


def _check_names(side: str, model: RunnableModel, expected: Iterable[str], unmatched: set[str]) -> None:
    if unmatched:
        source = f"the names of its signature {model.signature!r}"
        if not model.signature:
            source = "names of tensors: it has no signature"
        raise KerasBertError(
            f"expected {side} {', '.join(sorted(expected))} of {model.name}, received {', '.join(sorted(getattr(model, side)))}, "
            f"{source}; convert the model again"
        )


def _joined(outputs: Sequence[RawResult], features: Features) -> RawResult:
    """Return the outputs of one row without batch axis. `outputs`: of each of its token lists, with a batch axis of 1."""
    if features.group == 1:
        return {name: values[0] for name, values in outputs[0].items()}
    return {name: np.concatenate([each[name] for each in outputs]) for name in outputs[0]}
