"""A `.tflite` file that answers, without TensorFlow: texts in, what the Keras task would answer out."""

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kerasbert.console.output import note
from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.bucketed_model import BucketedModel
from kerasbert.export.runtime.interpreter_model import InterpreterModel
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.runtime.isolated_model import IsolatedFile
from kerasbert.export.runtime.padding import padding_note
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.tflite.reader import check_structure
from kerasbert.processors import Features, Processor, RawResult
from kerasbert.processors.base import check_finite

_LONGEST = 128  # tokens, where neither file nor tokenizer names a limit

Report = Callable[[int, int], None]


def open_predictor(
    path: str | os.PathLike, threads: int = 1, kernels: str = "xnnpack", isolated: bool = False
) -> "Predictor":
    """Opens a file that carries its tokenizer and processor. kernels: see `open_model`.

    isolated: run it in a process of its own, as the command does: what verification cannot see in a damaged or hostile file may crash the
    runtime, hang it or take all memory. That is a KerasBertError then. It costs some tenths of a second, and microseconds a row.

    Raises KerasBertError when it is damaged, or a file without kerasbert's metadata.
    """
    card = metadata.require(path, "to run it on texts")
    check_structure(path)
    process = IsolatedFile(path, threads, kernels) if isolated else None  # it starts while the tokenizer is made
    kind = Predictor if card.inputs == metadata.IDS else TextPredictor
    return kind(path, card, card.processor, tokenizer_of(card), threads, kernels, process)


def tokenizer_of(card: Metadata):
    """The tokenizer that a file carries. Raises KerasBertError for settings that no tokenizer has."""
    from kerasbert.text import tokenizer_from_config

    try:
        return tokenizer_from_config({**card.tokenizer, "vocabulary": list(card.vocabulary or ())})
    except KerasBertError:
        raise
    except Exception as error:  # the card may be anybody's, and engines have exceptions of their own
        raise KerasBertError(
            f"expected settings of a tokenizer in the file's {metadata.CARD}, received others ({type(error).__name__}: {error}); "
            "convert the model again"
        ) from error


@dataclass(frozen=True)
class Predictor:
    """A file, what it is asked, and its tokenizer. x, y: as the processor takes them, see `kerasbert.processors`; x may be a table of
    `kerasbert.data`. report: called with (rows done, all rows). process: where the file runs, if not here."""

    path: str | os.PathLike
    card: Metadata
    processor: Processor
    tokenizer: object
    threads: int = 1
    kernels: str = "xnnpack"
    process: IsolatedFile | None = None
    _noted: list[str] = field(default_factory=list, repr=False, compare=False)

    @functools.cached_property
    def _models(self) -> BucketedModel:
        opened = None if self.process is None else self.process.open
        return BucketedModel.of_card(self.path, self.card, self.length, self.threads, self.kernels, opened)

    @property
    def length(self) -> int:
        """The longest row in tokens: the file's length, or where that is open, that of the task it came from."""
        own = self.card.sequence_length or self.card.row_length
        return own or min(getattr(self.tokenizer, "model_max_length", None) or _LONGEST, _LONGEST)

    def predictions(self, x, report: Report | None = None, processor: Processor | None = None) -> list:
        """One prediction an example, JSON-able: the same as `Task.predictions` returns. processor: see there."""
        examples, features = self._features(x, self.processor.features)
        return (processor or self.processor).predictions(
            examples, features, self._raw_results(examples, features, report)
        )

    def score(self, x, y=None, report: Report | None = None) -> dict[str, float]:
        """The task's metrics by name, the main one first."""
        y = x.y if y is None and is_table(x) else y
        if y is None and not self.processor.self_supervised:
            raise KerasBertError("expected labels to score answers by, received none")
        examples, features = self._features(x, self.processor.scoring_features)
        raw_results = self._raw_results(examples, features, report)
        check_finite(raw_results)
        return self.processor.metrics(y, examples, features, raw_results)

    def raw_results(self, features: Features, report: Report | None = None) -> list[RawResult]:
        """What the processor keeps of the outputs of each row, in their order."""
        found: list[RawResult] = [{}] * len(features)
        order = map(int, np.argsort(features.lengths, kind="stable"))  # rows of one length run one after the other
        done = 0
        for model, numbers in itertools.groupby(order, lambda row: self._models.at(int(features.lengths[row]))):
            lists, kept = itertools.tee(numbers)
            outputs = model.run_each(self._inputs(model, features, lists))
            for row in kept:
                found[row] = _read(self.processor, list(itertools.islice(outputs, features.group)), features, row)
                done += 1
                if report is not None:
                    report(done, len(features))
        return found

    def _inputs(
        self, model: InterpreterModel, features: Features, numbers: Iterable[int]
    ) -> Iterator[dict[str, np.ndarray]]:
        """The model's inputs for the token lists of some rows, one list after the other."""
        checked = False
        for row in numbers:
            packed = features.pack([row], model.length, self.tokenizer.pad_id)
            if not checked:
                _check_ports(model, packed, self.processor)
                checked = True
            lists = {name: packed[name].reshape(-1, 1, model.length) for name in model.inputs}
            for number in range(features.group):
                yield {name: values[number] for name, values in lists.items()}

    def _raw_results(self, examples: Sequence, features: Features, report: Report | None) -> list[RawResult]:
        return self.raw_results(features, report)

    def _features(self, x, make) -> tuple[Sequence, Features]:
        examples = self.processor.examples(x.x if is_table(x) else x)
        if not examples:
            raise KerasBertError("expected at least one text, received none")
        features = make(examples, self.tokenizer, self.length)
        if features.truncated:
            note(
                f"note: {features.truncated:,} of {len(examples):,} {self.processor.truncated_items} are too long for {self.length} tokens "
                "and were cut"
            )
        line = padding_note(self.card, features.lengths)
        if line and line not in self._noted:
            self._noted.append(line)
            note(line)
        return examples, features


class TextPredictor(Predictor):
    """A file that takes a text as it is."""

    @functools.cached_property
    def _model(self) -> InterpreterModel:
        if self.process is not None:
            return self.process.open()
        return open_model(self.path, threads=self.threads, kernels=self.kernels, verified=True)

    def _raw_results(self, examples, features, report):
        model, found = self._model, []
        _check_ports(model, model.inputs, self.processor)
        for row, example in enumerate(examples):
            text, pair = example if isinstance(example, tuple) else (example, None)
            if pair is not None:
                raise KerasBertError(
                    f"expected one text an example for {self.path}, which takes texts, received a pair"
                )
            model.fill({metadata.TEXT: np.array([text])})
            model.invoke()
            found.append(_read(self.processor, [model.fetch()], features, row))
            if report is not None:
                report(row + 1, len(features))
        return found


def _check_ports(model: InterpreterModel, inputs: Iterable[str], processor: Processor) -> None:
    """Raises KerasBertError unless the model takes some of the inputs, and gives what the processor reads, as wide as there are labels."""
    by = (
        f"the names of its signature {model.signature!r}"
        if model.signature
        else "names of tensors: it has no signature"
    )
    for side, wanted, absent in (
        ("inputs", inputs, set(model.inputs) - set(inputs)),
        ("outputs", processor.outputs, set(processor.outputs) - set(model.outputs)),
    ):
        if absent:
            raise KerasBertError(
                f"expected {side} {', '.join(sorted(wanted))} of {model.name}, received {', '.join(sorted(getattr(model, side)))}, "
                f"{by}; convert the model again"
            )
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


def _read(processor: Processor, outputs: Sequence[RawResult], features: Features, row: int) -> RawResult:
    """One row's reading. outputs: of each of its token lists, with a batch axis of 1."""
    if features.group == 1:
        return processor.raw_result({name: values[0] for name, values in outputs[0].items()}, features, row)
    return processor.raw_result(
        {name: np.concatenate([each[name] for each in outputs]) for name in outputs[0]}, features, row
    )
