"""Output of `kerasbert predict`: records for JSON, a table for terminals, tab-separated lines for programs."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.cli.outputs.results import Result, to_jsonable
from kerasbert.cli.process.progress import note, progress
from kerasbert.console.escapes import escape_json
from kerasbert.console.output import terminal_width
from kerasbert.console.progress import Progress
from kerasbert.console.tables import Block, Table
from kerasbert.errors import KerasBertError
from kerasbert.processors import Processor
from kerasbert.processors.display import Display, pair_cell

if TYPE_CHECKING:
    from kerasbert.export.runtime.pipeline import Pipeline
    from kerasbert.tasks.base import Task

_FORMULA = re.compile("[=+@\uff1d\uff0b\uff0d\uff20-]")  # including full-width forms
_NUMBER = re.compile(r"-|[+-]?\d+(\.\d+)?")


class PartPredictor:
    """Predicts the parts of an input one after the other.

    Args:
        model: The model's name.
        loaded: The task or the file.
        prompted: The model's processor, with the prompt of the command.
    """

    def __init__(self, model: str, loaded: "Task | Pipeline", prompted: Processor | None):
        self.model, self.loaded, self.prompted = model, loaded, prompted
        self._done = 0

    def results(self, parts: Iterator[Any], answers: int | None, csv_safe: bool) -> Iterator[Result]:
        """Yield the result of each part.

        Args:
            parts: The examples of each part.
            answers: Number of answers to a question; None for the best one alone.
            csv_safe: See `format_predictions`.
        """
        processor = self.loaded.processor
        with progress("predicting", "rows") as bar:
            part = next(parts)
            while part is not None:
                following = next(parts, None)
                alone = following is None and not self._done
                predictions, problem = self._predictions(part, bar.advance if alone else self._count_in(bar))
                if problem:
                    note(f"warning: the predictions contain {problem}")
                records = prediction_records(processor, processor.examples(part), predictions)
                if answers is not None:
                    records = [{**record, "best": record["best"][:answers]} for record in records]
                data = {"model": self.model, "problem": processor.name, "predictions": records}
                shown = records if answers is None else each_answer(records)
                yield Result(data, format_predictions(processor, shown, csv_safe), exit_code=1 if problem else 0)
                part = following

    def finite(self, examples: Any) -> list:
        """Return the predictions of all examples.

        Args:
            examples: The examples.

        Raises:
            KerasBertError: When they contain NaN or infinity.
        """
        with progress("predicting", "rows") as bar:
            predictions, problem = self._predictions(examples, bar.advance)
        if problem:
            raise KerasBertError(f"expected finite vectors, received {problem}")
        return predictions

    def _predictions(self, examples: Any, report: Callable[[int, int], None]) -> tuple[list, str]:
        """Return the predictions, and a description of those with NaN or infinity or ""."""
        predictions = self.loaded.predictions(examples, report=report, processor=self.prompted)
        numbers = [number for number, prediction in enumerate(predictions) if not is_finite(prediction)]
        first, self._done = self._done, self._done + len(predictions)
        if not numbers:
            return predictions, ""
        count = f"{len(numbers):,} of {len(predictions):,} texts, the first is number {first + numbers[0]}"
        return predictions, f"NaN or infinity for {count}; the model is damaged, or its training diverged"

    def _count_in(self, bar: Progress) -> Callable[[int, int], None]:
        before = self._done
        return lambda done, total: bar.advance(0, 0, f"{before + done:,} rows")


def prediction_records(
    processor: Processor, examples: Sequence[Any], predictions: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Join the fields of each example with those of its prediction. Vectors are rounded to the digits of float32.

    Args:
        processor: The model's processor.
        examples: The examples.
        predictions: Their predictions.
    """
    return [
        {
            **processor.display.fields(example),
            **{name: _shortest_digits(value) for name, value in prediction.items()},
        }
        for example, prediction in zip(examples, predictions, strict=True)
    ]


def _shortest_digits(value: Any) -> Any:
    """Return a float32 array as the shortest decimal numbers that round-trip, and any other value unchanged."""
    short = isinstance(value, np.ndarray) and value.dtype == np.float32
    return value.astype(str).astype(np.float64) if short else value


def is_finite(prediction: Any) -> bool:
    """Return True if a prediction contains neither NaN nor infinity, at any depth.

    Args:
        prediction: A prediction, or a part of one.
    """
    if isinstance(prediction, Mapping):
        return all(map(is_finite, prediction.values()))
    if hasattr(prediction, "tolist"):
        return is_finite(prediction.tolist())
    if isinstance(prediction, list | tuple):
        return all(map(is_finite, prediction))
    return not isinstance(prediction, float) or math.isfinite(prediction)


def format_predictions(processor: Processor, predictions: Sequence[dict[str, Any]], csv_safe: bool = False) -> Block:
    """Format predictions as a table on a terminal, else as tab-separated lines. Vectors become JSON lines there.

    Args:
        processor: The model's processor.
        predictions: The records of `prediction_records`.
        csv_safe: Whether cells that a spreadsheet would run as a formula get an apostrophe in front.
    """
    terminal = terminal_width(sys.__stdout__) is not None
    if not terminal and predictions and "vector" in predictions[0]:
        return "\n".join(escape_json(json.dumps(to_jsonable(record), ensure_ascii=False)) for record in predictions)
    display = processor.display
    if predictions and "cosine" in predictions[0]:
        display = _COSINES
    lines = [[_one_line(cell) for cell in line] for record in predictions for line in display.lines(record)]
    if not terminal:
        return "\n".join("\t".join(map(_no_formula, line) if csv_safe else line) for line in lines)
    second = ["second text"] if predictions and "pair" in predictions[0] else []
    return Table([*display.columns, *second], lines)


def each_answer(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a record for each of the best answers to each question, in place of one for each question.

    Args:
        records: The records of `prediction_records` for question answering.
    """
    return [{**record, **answer} for record in records for answer in record["best"]]


_COSINES = Display(("cosine", "text"), lambda record: [[f"{record['cosine']:.4f}", record["text"], *pair_cell(record)]])


def _one_line(cell: str) -> str:
    return re.sub(r"[ \t\r\n]+", " ", cell).strip(" ")


def _no_formula(cell: str) -> str:
    """Quote a formula as OWASP recommends against CSV injection. Numbers stay numbers."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell
