"""The real rows that a validation runs on: what a user hands over as token rows, and the way from outputs back to what is compared."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import Port
from kerasbert.export.validation.comparison import Evidence, Metric
from kerasbert.processors import Features, Processor, RawResult
from kerasbert.processors.features import TokenLists

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_WIDE, _NARROW = 1024, 16  # decisions among more than this are kept as one among these and the best other

Packed = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Examples:
    """Rows of one length with the processor that they belong to.

    Attributes:
        processor: what the model is asked.
        rows: the token rows; without `tokens` where arrays were handed over.
        inputs: all token lists as packed int32 arrays, (rows * group, S) an input.
        numbers: each row's position in the data as given.
        raw: the processor's examples; None for packed arrays, which have no words to go back to.
        y: labels as the user wrote them, or None.
    """

    processor: Processor
    rows: Features
    inputs: Packed
    numbers: np.ndarray
    raw: Sequence | None = None
    y: object = None

    def __post_init__(self):
        if self.y is not None:
            self.processor.encode_labels(self.y, self._asked, self.rows)  # a wrong label is told before anything runs

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def group(self) -> int:
        return self.rows.group

    @property
    def length(self) -> int:
        return self.inputs["input_ids"].shape[1]

    @property
    def measurable(self) -> bool:
        """Whether the task's metric can be had."""
        return self.y is not None or (self.processor.self_supervised and self.raw is not None)

    @property
    def _asked(self) -> Sequence:
        return range(len(self.rows)) if self.raw is None else self.raw

    def spread(self, wanted: int) -> np.ndarray:
        """The numbers of at least `wanted` rows, as far as there are: all rows of examples that are spread evenly."""
        examples = int(self.rows.example.max(initial=-1)) + 1
        if examples == len(self):
            return spread(len(self), wanted)
        chosen = spread(examples, max(1, -(-wanted * examples // len(self))))
        return np.flatnonzero(np.isin(self.rows.example, chosen))

    def part(self, rows: np.ndarray) -> "Examples | None":
        """The examples of these rows; None where one has further rows."""
        if len(rows) == len(self):
            return self
        numbers, first = np.unique(self.rows.example[rows], return_inverse=True)
        if np.isin(self.rows.example, numbers).sum() != len(rows):
            return None
        lists = (np.asarray(rows)[:, None] * self.group + np.arange(self.group)).ravel()
        raw = None if self.raw is None else [self.raw[i] for i in numbers]
        inputs = {name: values[lists] for name, values in self.inputs.items()}
        y = None if self.y is None else _some(self.y, numbers)
        return Examples(self.processor, self.rows.part(rows, first), inputs, self.numbers[rows], raw, y)

    def lists(self, first: int, stop: int) -> dict[str, np.ndarray]:
        """The token lists of some rows next to each other."""
        return {name: values[first * self.group : stop * self.group] for name, values in self.inputs.items()}

    def one(self, number: int, ports: Mapping[str, Port]) -> dict[str, np.ndarray]:
        """One token list with a batch axis, the inputs that a model takes."""
        return {name: self.inputs[name][number : number + 1] for name in ports if name in self.inputs}

    def keep(self, outputs: Mapping[str, np.ndarray], row: int, like: "Kept | None" = None) -> "Kept":
        """What is kept of one row's outputs. outputs: of its token lists, (group, ...). like: what was kept of the other side."""
        values = {name: value[0] if self.group == 1 else value for name, value in outputs.items()}
        compared = self.processor.comparable(values, self.rows, row)
        # Copies: a view would keep the whole output alive.
        reading = {name: np.array(value) for name, value in self.processor.raw_result(values, self.rows, row).items()}
        if like is not None:
            best = like.best
        else:
            best = {name: _best(value) for name, value in compared.items() if value.shape[-1] > _WIDE}
        narrow = {
            name: _narrowed(value, best[name]) if name in best else np.array(value) for name, value in compared.items()
        }
        return Kept(reading, narrow, best)

    def scored(self, raw_results: Sequence[RawResult]) -> tuple:
        """What the processor's `scores` takes."""
        return self.y, self._asked, self.rows, raw_results

    def metrics(self, reference: Sequence["Kept"], model: Sequence["Kept"]) -> tuple[Metric, ...]:
        """The task's metrics of both sides over all rows, the main one first; empty without labels."""
        if not self.measurable:
            return ()
        sides = [self.scored([kept.reading for kept in side]) for side in (reference, model)]
        theirs, ours = (self.processor.metrics(*side) for side in sides)
        parts = [self.processor.contributions(*side) for side in sides]
        evidence = None if None in parts else Evidence.of(*parts)
        return tuple(
            Metric(name, value, ours[name], None if number else evidence)
            for number, (name, value) in enumerate(theirs.items())
        )


@dataclass(frozen=True)
class Kept:
    """What is kept of a row's outputs.

    reading: what answers and scores are made of. compared: what two sides are compared by, arrays (n, width). Where that would be a whole
    vocabulary, it is the reference's likeliest words, in `best` (n, some) by name, and last the likeliest of all others: the same arg-max
    as the whole, and small.
    """

    reading: RawResult
    compared: RawResult
    best: Mapping[str, np.ndarray]


def _best(lines: np.ndarray) -> np.ndarray:
    return np.argpartition(lines, -_NARROW, axis=-1)[:, -_NARROW:]


def _narrowed(lines: np.ndarray, best: np.ndarray) -> np.ndarray:
    """(n, width) -> (n, some + 1)."""
    others = lines.copy()
    np.put_along_axis(others, best, -np.inf, axis=-1)
    return np.concatenate([np.take_along_axis(lines, best, axis=-1), others.max(axis=-1, keepdims=True)], axis=-1)


@dataclass(frozen=True)
class Data:
    """What a user hands over, taken apart. x: texts of any kind, or packed arrays by input name. y: labels or None."""

    x: object
    y: object = None

    @property
    def is_packed(self) -> bool:
        return isinstance(self.x, Mapping)

    @property
    def length(self) -> int | None:
        """Tokens a row of packed arrays; None for texts."""
        return int(np.shape(self.x["input_ids"])[-1]) if self.is_packed and "input_ids" in self.x else None


def read_data(data, processor: Processor | None) -> Data:
    """What `validate` takes as data, as `Data`. A path is read as the processor asks for, by default as a table of texts."""
    if isinstance(data, str | os.PathLike):
        from kerasbert.processors.classification import SingleLabel

        data = (processor or SingleLabel).read(data)
    if is_table(data):
        return Data(data.x, data.y)
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], str):
        return Data(*data)
    return Data(data)


def text_examples(data: Data, processor: Processor, tokenizer, length: int, wanted: int | None) -> Examples:
    """`wanted` of the examples, tokenized and packed to the length."""
    raw = processor.examples(data.x)
    numbers, y = _chosen(len(raw), data.y, wanted)
    raw = [raw[i] for i in numbers]
    rows = processor.scoring_features(raw, tokenizer, length)
    packed = rows.pack(range(len(rows)), length, tokenizer.pad_id)
    inputs = {name: values.reshape(-1, length) for name, values in packed.items()}
    return Examples(processor, rows, inputs, numbers[rows.example], raw, y)


def packed_examples(data: Data, processor: Processor, wanted: int | None) -> Examples:
    """`wanted` rows of arrays that are (rows, S), or (rows, lists, S)."""
    shapes = {np.shape(values) for values in data.x.values()}
    if len(shapes) > 1 or not all(len(shape) in (2, 3) for shape in shapes) or not {*INPUTS[:2]} <= data.x.keys():
        raise KerasBertError(
            "expected packed arrays input_ids and attention_mask of one shape (rows, length), received "
            f"{', '.join(f'{name} {np.shape(values)}' for name, values in data.x.items()) or 'none'}"
        )
    (shape,) = shapes
    numbers, y = _chosen(shape[0], data.y, wanted)
    inputs = {
        name: np.ascontiguousarray(np.asarray(values)[numbers].reshape(-1, shape[-1]))
        for name, values in data.x.items()
    }
    lengths = inputs["attention_mask"].sum(axis=1)
    ids, types = (inputs.get(name, np.zeros_like(inputs["input_ids"])) for name in ("input_ids", "token_type_ids"))
    tokens = TokenLists(*([row[:n] for row, n in zip(side, lengths, strict=True)] for side in (ids, types)))
    rows = Features(tokens, np.arange(len(numbers)), shape[1] if len(shape) == 3 else 1)
    return Examples(processor, rows, inputs, numbers, None, y)


def spread(rows: int, wanted: int | None) -> np.ndarray:
    """`wanted` row numbers spread evenly over all, so that data sorted by class keeps its variety."""
    if wanted is None or wanted >= rows:
        return np.arange(rows)
    return np.unique(np.linspace(0, rows - 1, wanted).round().astype(int))


def _chosen(total: int, y, wanted: int | None) -> tuple[np.ndarray, object]:
    if total == 0:
        raise KerasBertError("expected at least one row of data, received none")
    for values in y.values() if isinstance(y, Mapping) else () if y is None else (y,):
        if len(values) != total:
            raise KerasBertError(f"expected one label a row, received {total} rows and {len(values)} labels")
    numbers = spread(total, wanted)
    return numbers, y if y is None or len(numbers) == total else _some(y, numbers)


def _some(y, numbers: np.ndarray):
    if isinstance(y, Mapping):  # of packed rows, one array an output
        return {name: _some(values, numbers) for name, values in y.items()}
    return y[numbers] if isinstance(y, np.ndarray) else [y[i] for i in numbers]


def blocks(reference: Iterable[Kept], model: Iterable[Kept], name: str, most: int = 1 << 21):
    """Lines of one output of two sides, (n, width) each, some at a time: lines of one width together, so long as there are few numbers."""
    pairs, size = [], 0
    for sides in zip(reference, model, strict=True):
        pair = tuple(side.compared[name] for side in sides)
        if pairs and (pair[0].shape[1] != pairs[0][0].shape[1] or size + pair[0].size > most):
            yield tuple(map(np.concatenate, zip(*pairs, strict=True)))
            pairs, size = [], 0
        pairs.append(pair)
        size += pair[0].size
    if pairs:
        yield tuple(map(np.concatenate, zip(*pairs, strict=True)))
