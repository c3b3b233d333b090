"""Output of `kerasbert predict`: records for JSON, a table for terminals, tab-separated lines for programs."""

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kerasbert.cli.common.results import to_jsonable
from kerasbert.console.escapes import escape_json
from kerasbert.console.output import terminal_width
from kerasbert.console.tables import Block, Table
from kerasbert.processors import Processor
from kerasbert.processors.display import Display, pair_cell

_FORMULA = re.compile("[=+@\uff1d\uff0b\uff0d\uff20-]")  # including full-width forms
_NUMBER = re.compile(r"-|[+-]?\d+(\.\d+)?")


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
