"""The rows that a validation runs on, and the way from outputs back to what is compared."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.data.sampling import spread
from kerasbert.errors import KerasBertError
from kerasbert.export.validation.comparison import Calibration, Evidence, Metric
from kerasbert.export.validation.data import Data
from kerasbert.processors import Features, Processor, RawResult
from kerasbert.processors.features import TokenLists
from kerasbert.processors.metrics import calibration_error
from kerasbert.text import Tokenizer

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# Outputs with more classes than _WIDE keep the _NARROW likeliest ones, and the best of the others.
_WIDE, _NARROW = 1024, 16

Packed = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class RowOutputs:
    """The part of one row's outputs that a validation needs.

    Attributes:
        raw_result: The source of predictions and metrics.
        compared: The arrays (n, width) by which two models are compared. Where that would be a whole vocabulary, it is the reference's
            likeliest words and last the likeliest of all others: small, and with the arg-max of the whole.
        likeliest: The indices of those words by name, (n, some).
    """

    raw_result: RawResult
    compared: RawResult
    likeliest: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Examples:
    """Rows of one length with their processor.

    Attributes:
        processor: The model's.
        features: The token rows; of packed arrays those without padding.
        inputs: All token lists as packed int32 arrays, (rows * group, length) an input.
        row_numbers: Each row's position in the data.
        raw: The processor's examples; None for packed arrays, which have no texts.
        y: Labels as the user wrote them, or None.
    """

    processor: Processor
    features: Features
    inputs: Packed
    row_numbers: np.ndarray
    raw: Sequence | None = None
    y: Any = None

    def __post_init__(self) -> None:
        if self.y is not None:
            self.processor.encode_labels(
                *self.scoring_arguments(())[:3]
            )  # a wrong label is an error before anything runs

    def __len__(self) -> int:
        return len(self.features)

    @property
    def length(self) -> int:
        """Tokens in a row, padding included."""
        return self.inputs["input_ids"].shape[1]

    @property
    def measurable(self) -> bool:
        """Whether the task's metric can be measured."""
        return self.y is not None or (self.processor.self_supervised and self.raw is not None)

    def spread(self, count: int) -> np.ndarray:
        """Choose all rows of some examples, spread evenly.

        Args:
            count: Rows to choose at least, as far as there are.

        Returns:
            Their numbers, (rows,).
        """
        examples = int(self.features.example.max(initial=-1)) + 1
        if examples == len(self):
            return spread(len(self), count)
        chosen = spread(examples, max(1, -(-count * examples // len(self))))
        return np.flatnonzero(np.isin(self.features.example, chosen))

    def part(self, rows: np.ndarray) -> "Examples | None":
        """Return the examples of these rows; None where one of them has further rows."""
        if len(rows) == len(self):
            return self
        numbers, example = np.unique(self.features.example[rows], return_inverse=True)
        if np.isin(self.features.example, numbers).sum() != len(rows):
            return None
        raw = None if self.raw is None else [self.raw[i] for i in numbers]
        y = None if self.y is None else _select(self.y, numbers)
        features = self.features.part(rows.tolist(), example)
        return Examples(self.processor, features, self.inputs_of(rows), self.row_numbers[rows], raw, y)

    def inputs_of(self, rows: np.ndarray, length: int | None = None) -> dict[str, np.ndarray]:
        """Return the inputs of some rows, (token lists, length) by name.

        Args:
            rows: Their numbers.
            length: Tokens to cut them to.
        """
        token_lists = (rows[:, None] * self.features.group + np.arange(self.features.group)).ravel()
        return {name: values[token_lists, :length] for name, values in self.inputs.items()}

    def extract(self, outputs: Mapping[str, np.ndarray], row: int, reference: RowOutputs | None = None) -> RowOutputs:
        """Extract what is needed of one row's outputs.

        Args:
            outputs: The outputs of its token lists, (group, ...) by name.
            row: Its number.
            reference: The reference's outputs of the row; None where these are the reference's.
        """
        values = {name: value[0] if self.features.group == 1 else value for name, value in outputs.items()}
        compared = self.processor.comparable(values, self.features, row)
        # Copies: a view would keep the whole output alive.
        raw_result = {
            name: np.array(value) for name, value in self.processor.raw_result(values, self.features, row).items()
        }
        if reference is not None:
            likeliest = reference.likeliest
        else:
            likeliest = {name: _likeliest(value) for name, value in compared.items() if value.shape[-1] > _WIDE}
        narrow = {
            name: _narrowed(value, likeliest[name]) if name in likeliest else np.array(value)
            for name, value in compared.items()
        }
        return RowOutputs(raw_result, narrow, likeliest)

    def scoring_arguments(self, outputs: Iterable[RowOutputs]) -> tuple[Any, Sequence, Features, list[RawResult]]:
        """Return the arguments of the processor's `metrics`, `contributions` and `class_metrics` for all rows' outputs."""
        examples = range(len(self.features)) if self.raw is None else self.raw
        return self.y, examples, self.features, [row_outputs.raw_result for row_outputs in outputs]

    def metrics(
        self, reference: Sequence[RowOutputs], model: Sequence[RowOutputs], own: "Examples | None" = None
    ) -> tuple[Metric, ...]:
        """Measure the task's metrics of two models over all rows, the main one first; empty without labels.

        Args:
            reference: The reference's outputs, one entry a row.
            model: The model's.
            own: The same examples with the model's own tokenizer and processor; None where both sides share these rows.
        """
        if not self.measurable:
            return ()
        processors = self.processor, (own or self).processor
        sides = self.scoring_arguments(reference), (own or self).scoring_arguments(model)
        pairs = list(zip(processors, sides, strict=True))
        reference_metrics, model_metrics = (processor.metrics(*side) for processor, side in pairs)
        contributions = [each for processor, side in pairs if (each := processor.contributions(*side)) is not None]
        evidence = Evidence.of(*contributions) if len(contributions) == len(sides) else None
        return tuple(
            Metric(name, value, model_metrics[name], None if number else evidence)
            for number, (name, value) in enumerate(reference_metrics.items())
        )

    def calibration(
        self, reference: Sequence[RowOutputs], model: Sequence[RowOutputs], own: "Examples | None" = None
    ) -> Calibration | None:
        """Measure the calibration of two models over all rows; None without labels, and for predictions without a probability."""
        if self.y is None:
            return None
        pairs = (self, reference), (own or self, model)
        sides = [each.processor.confidences(*each.scoring_arguments(outputs)) for each, outputs in pairs]
        errors = [calibration_error(*side) for side in sides if side is not None]
        return Calibration(errors[0], errors[1], len(self)) if len(errors) == len(sides) else None


def _likeliest(lines: np.ndarray) -> np.ndarray:
    return np.argpartition(lines, -_NARROW, axis=-1)[:, -_NARROW:]


def _narrowed(lines: np.ndarray, likeliest: np.ndarray) -> np.ndarray:
    """Narrow (n, width) to (n, some + 1)."""
    others = lines.copy()
    np.put_along_axis(others, likeliest, -np.inf, axis=-1)
    return np.concatenate([np.take_along_axis(lines, likeliest, axis=-1), others.max(axis=-1, keepdims=True)], axis=-1)


def text_examples(
    data: Data, processor: Processor, tokenizer: Tokenizer, length: int, count: int | None, scoring: bool = True
) -> Examples:
    """Tokenize and packs texts.

    Args:
        data: The texts.
        processor: The model's.
        tokenizer: The model's.
        length: Tokens in a row.
        count: Examples to use; None for all.
        scoring: Whether the features are those of metrics; else those of predictions.

    Raises:
        KerasBertError: When examples or labels are not those of the processor.
    """
    raw = processor.examples(data.x)
    numbers, y = choose_rows(len(raw), data.y, count)
    raw = [raw[i] for i in numbers]
    features = (processor.scoring_features if scoring else processor.features)(raw, tokenizer, length)
    packed = features.pack(range(len(features)), length, tokenizer.pad_id)
    inputs = {name: values.reshape(-1, length) for name, values in packed.items()}
    return Examples(processor, features, inputs, numbers[features.example], raw, y)


def packed_examples(data: Data, processor: Processor, count: int | None) -> Examples:
    """Make examples of packed arrays.

    Args:
        data: Arrays (rows, length), or (rows, lists, length), by input name.
        processor: The model's.
        count: Rows to use; None for all.

    Raises:
        KerasBertError: When the arrays are no inputs of one shape, or labels are not those of the processor.
    """
    shapes = {np.shape(values) for values in data.x.values()}
    if len(shapes) > 1 or not all(len(shape) in (2, 3) for shape in shapes) or not {*INPUTS[:2]} <= data.x.keys():
        raise KerasBertError(
            "expected packed arrays input_ids and attention_mask of one shape (rows, length), received "
            f"{', '.join(f'{name} {np.shape(values)}' for name, values in data.x.items()) or 'none'}; pack texts with kerasbert.text.pack"
        )
    (shape,) = shapes
    numbers, y = choose_rows(shape[0], data.y, count)
    inputs = {
        name: np.ascontiguousarray(np.asarray(values)[numbers].reshape(-1, shape[-1]))
        for name, values in data.x.items()
    }
    lengths = inputs["attention_mask"].sum(axis=1)
    ids, types = (inputs.get(name, np.zeros_like(inputs["input_ids"])) for name in ("input_ids", "token_type_ids"))
    tokens = TokenLists(*([row[:n] for row, n in zip(side, lengths, strict=True)] for side in (ids, types)))
    features = Features(tokens, np.arange(len(numbers)), shape[1] if len(shape) == 3 else 1)
    return Examples(processor, features, inputs, numbers, None, y)


def choose_rows(total: int, y: Any, count: int | None) -> tuple[np.ndarray, Any]:
    """Choose rows, spread evenly.

    Args:
        total: All rows.
        y: Their labels, or None.
        count: Rows to choose; None for all.

    Returns:
        The numbers of the chosen rows, and their labels.

    Raises:
        KerasBertError: When there are no rows, or more or fewer labels.
    """
    if total == 0:
        raise KerasBertError("expected at least one row of data, received none; give some rows")
    for values in y.values() if isinstance(y, Mapping) else () if y is None else (y,):
        if len(values) != total:
            raise KerasBertError(
                f"expected one label a row, received {total} rows and {len(values)} labels; give as many labels as rows"
            )
    numbers = spread(total, count)
    return numbers, y if y is None or len(numbers) == total else _select(y, numbers)


def _select(y: Any, numbers: np.ndarray) -> Any:
    if isinstance(y, Mapping):  # of packed rows, one array an output
        return {name: _select(values, numbers) for name, values in y.items()}
    return y[numbers] if isinstance(y, np.ndarray) else [y[i] for i in numbers]


def blocks(
    reference: Iterable[RowOutputs], model: Iterable[RowOutputs], name: str, max_size: int = 1 << 21
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Join the lines of one output of two models, some rows at a time.

    Args:
        reference: The reference's outputs, row by row.
        model: The model's.
        name: The output's name.
        max_size: Numbers in a block, more only where a single row has them.

    Yields:
        (reference, model), each (n, width); all lines of a block have one width.
    """
    pairs, size = [], 0
    for sides in zip(reference, model, strict=True):
        first, second = (side.compared[name] for side in sides)
        if pairs and (first.shape[1] != pairs[0][0].shape[1] or size + first.size > max_size):
            yield _joined(pairs)
            pairs, size = [], 0
        pairs.append((first, second))
        size += first.size
    if pairs:
        yield _joined(pairs)


def _joined(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    first, second = zip(*pairs, strict=True)
    return np.concatenate(first), np.concatenate(second)
