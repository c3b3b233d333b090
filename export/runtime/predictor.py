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
from kerasbert.processors import Processor, Reading, Rows
from kerasbert.processors.base import check_finite

_PER_TOKEN = ("tagging", "masked_lm", "question_answering")
_LONGEST = 128  # tokens, where neither file nor tokenizer names a limit

Report = Callable[[int, int], None]


def open_predictor(
    path: str | os.PathLike, threads: int = 1, kernels: str = "xnnpack", isolated: bool = False
) -> "Predictor":
    """Opens a file that carries its tokenizer and problem. kernels: see `open_model`.

    isolated: run it in a process of its own, as the command does: what verification cannot see in a damaged or hostile file may crash the
    runtime, hang it or take all memory. That is a KerasBertError then. It costs some tenths of a second, and microseconds a row.

    Raises KerasBertError when it is damaged, or a file without kerasbert's metadata.
    """
    card = metadata.require(path, "to run it on texts")
    check_structure(path)
    process = IsolatedFile(path, threads, kernels) if isolated else None  # it starts while the tokenizer is made
    kind = Predictor if card.inputs == metadata.IDS else TextPredictor
    return kind(path, card, card.processor(), tokenizer_of(card), threads, kernels, process)


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
    """A file, what it is asked, and its tokenizer. x, y: as the problem takes them, see `kerasbert.processors`; x may be a table of
    `kerasbert.data`. report: called with (rows done, all rows). process: where the file runs, if not here."""

    path: str | os.PathLike
    card: Metadata
    problem: Processor
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

    def answer(self, x, report: Report | None = None, problem: Processor | None = None) -> list:
        """One answer an example, JSON-able: the same as `Task.answer` gives. problem: see there."""
        examples, rows = self._rows(x, self.problem.rows)
        return (problem or self.problem).answers(examples, rows, self._readings(examples, rows, report))

    def score(self, x, y=None, report: Report | None = None) -> dict[str, float]:
        """The task's metrics by name, the main one first."""
        y = x.y if y is None and is_table(x) else y
        if y is None and not self.problem.self_supervised:
            raise KerasBertError("expected labels to score answers by, received none")
        examples, rows = self._rows(x, self.problem.scoring_rows)
        readings = self._readings(examples, rows, report)
        check_finite(readings)
        return self.problem.scores(y, examples, rows, readings)

    def readings(self, rows: Rows, report: Report | None = None) -> list[Reading]:
        """What the problem keeps of the outputs of each row, in their order."""
        found: list[Reading] = [{}] * len(rows)
        order = map(int, np.argsort(rows.lengths, kind="stable"))  # rows of one length run one after the other
        done = 0
        for model, numbers in itertools.groupby(order, lambda row: self._models.at(int(rows.lengths[row]))):
            lists, kept = itertools.tee(numbers)
            outputs = model.run_each(self._inputs(model, rows, lists))
            for row in kept:
                found[row] = _read(self.problem, list(itertools.islice(outputs, rows.group)), rows, row)
                done += 1
                if report is not None:
                    report(done, len(rows))
        return found

    def _inputs(self, model: InterpreterModel, rows: Rows, numbers: Iterable[int]) -> Iterator[dict[str, np.ndarray]]:
        """The model's inputs for the token lists of some rows, one list after the other."""
        checked = False
        for row in numbers:
            packed = rows.pack([row], model.length, self.tokenizer.pad_id)
            if not checked:
                _check_ports(model, packed, self.problem)
                checked = True
            lists = {name: packed[name].reshape(-1, 1, model.length) for name in model.inputs}
            for number in range(rows.group):
                yield {name: values[number] for name, values in lists.items()}

    def _readings(self, examples: Sequence, rows: Rows, report: Report | None) -> list[Reading]:
        return self.readings(rows, report)

    def _rows(self, x, make) -> tuple[Sequence, Rows]:
        examples = self.problem.examples(x.x if is_table(x) else x)
        if not examples:
            raise KerasBertError("expected at least one text, received none")
        rows = make(examples, self.tokenizer, self.length)
        if rows.truncated:
            note(
                f"note: {rows.truncated:,} of {len(examples):,} {self.problem.cut} are too long for {self.length} tokens and were cut"
            )
        line = padding_note(self.card, rows.lengths)
        if line and line not in self._noted:
            self._noted.append(line)
            note(line)
        return examples, rows


class TextPredictor(Predictor):
    """A file that takes a text as it is."""

    @functools.cached_property
    def _model(self) -> InterpreterModel:
        if self.process is not None:
            return self.process.open()
        return open_model(self.path, threads=self.threads, kernels=self.kernels, verified=True)

    def _readings(self, examples, rows, report):
        model, found = self._model, []
        _check_ports(model, model.inputs, self.problem)
        for row, example in enumerate(examples):
            text, pair = example if isinstance(example, tuple) else (example, None)
            if pair is not None:
                raise KerasBertError(
                    f"expected one text an example for {self.path}, which takes texts, received a pair"
                )
            model.fill({metadata.TEXT: np.array([text])})
            model.invoke()
            found.append(_read(self.problem, [model.fetch()], rows, row))
            if report is not None:
                report(row + 1, len(rows))
        return found


def _check_ports(model: InterpreterModel, inputs: Iterable[str], problem: Processor) -> None:
    """Raises KerasBertError unless the model takes some of the inputs, and gives what the problem reads, as wide as there are labels."""
    by = (
        f"the names of its signature {model.signature!r}"
        if model.signature
        else "names of tensors: it has no signature"
    )
    for side, wanted, absent in (
        ("inputs", inputs, set(model.inputs) - set(inputs)),
        ("outputs", problem.outputs, set(problem.outputs) - set(model.outputs)),
    ):
        if absent:
            raise KerasBertError(
                f"expected {side} {', '.join(sorted(wanted))} of {model.name}, received {', '.join(sorted(getattr(model, side)))}, "
                f"{by}; convert the model again"
            )
    per_token = problem.name in _PER_TOKEN
    for name in problem.outputs:
        shape = model.outputs[name].shape
        axes = 3 if problem.name in ("tagging", "masked_lm") else 2
        if len(shape) != axes or (per_token and model.length is not None and shape[1] != model.length):
            raise KerasBertError(
                f"expected {name!r} of {model.name} as a model of the task {problem.name!r} gives it, received the shape {shape}; convert "
                "the model again"
            )
    width = model.outputs[problem.outputs[0]].shape[-1:]
    if problem.labels and width != (len(problem.labels),):
        raise KerasBertError(
            f"expected as many labels as classes in {model.name}, received {len(problem.labels)} labels and {problem.outputs[0]} of "
            f"width {' '.join(map(str, width)) or 'none'}; convert the model again"
        )


def _read(problem: Processor, outputs: Sequence[Reading], rows: Rows, row: int) -> Reading:
    """One row's reading. outputs: of each of its token lists, with a batch axis of 1."""
    if rows.group == 1:
        return problem.read({name: values[0] for name, values in outputs[0].items()}, rows, row)
    return problem.read({name: np.concatenate([each[name] for each in outputs]) for name in outputs[0]}, rows, row)
