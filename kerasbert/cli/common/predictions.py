"""Answers as `kerasbert predict` gives them out: records for JSON, lines or a table for people."""

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from kerasbert.cli.common.results import plain
from kerasbert.console.escapes import escape_json
from kerasbert.console.output import terminal_width
from kerasbert.console.tables import Block, Table
from kerasbert.processors import Processor
from kerasbert.processors.display import Display, pair_cell

_FORMULA = re.compile("[=+@\uff1d\uff0b\uff0d\uff20-]")  # and their full-width forms
_NUMBER = re.compile(r"-|[+-]?\d+(\.\d+)?")


def records(processor: Processor, examples: Sequence, predictions: Sequence[dict]) -> list[dict]:
    """Each prediction behind its example's fields; numbers of vectors with the digits that a float32 has."""
    return [
        {
            **processor.display.fields(example),
            **{name: _shortest_digits(value) for name, value in prediction.items()},
        }
        for example, prediction in zip(examples, predictions, strict=True)
    ]


def _shortest_digits(value: object) -> object:
    """A float32 array as the shortest decimal numbers that are read as the same values again; anything else as it is."""
    short = isinstance(value, np.ndarray) and value.dtype == np.float32
    return value.astype(str).astype(np.float64) if short else value


def is_finite(answer) -> bool:
    """Whether an answer holds neither NaN nor infinity, at any depth."""
    if isinstance(answer, Mapping):
        return all(map(is_finite, answer.values()))
    if hasattr(answer, "tolist"):
        return is_finite(answer.tolist())
    if isinstance(answer, list | tuple):
        return all(map(is_finite, answer))
    return not isinstance(answer, float) or math.isfinite(answer)


def format_predictions(processor: Processor, predictions: list[dict], csv_safe: bool = False) -> Block:
    """A table on a terminal, else lines of cells between tabs; of vectors, JSON lines with all of their numbers.

    Args:
        processor: The model's processor.
        predictions: What `records` returns.
        csv_safe: Whether cells that a spreadsheet would take for a formula get an apostrophe in front.
    """
    terminal = terminal_width(sys.__stdout__) is not None
    if not terminal and predictions and "vector" in predictions[0]:
        return "\n".join(escape_json(json.dumps(plain(record), ensure_ascii=False)) for record in predictions)
    display = processor.display
    if predictions and "cosine" in predictions[0]:
        display = _COSINES
    lines = [[_one_line(cell) for cell in line] for record in predictions for line in display.lines(record)]
    if not terminal:
        return "\n".join("\t".join(map(_no_formula, line) if csv_safe else line) for line in lines)
    second = ["second text"] if predictions and "pair" in predictions[0] else []
    return Table([*display.columns, *second], lines)


_COSINES = Display(("cosine", "text"), lambda record: [[f"{record['cosine']:.4f}", record["text"], *pair_cell(record)]])


def _one_line(cell: str) -> str:
    return re.sub(r"[ \t\r\n]+", " ", cell).strip(" ")


def _no_formula(cell: str) -> str:
    """As OWASP advises against CSV injection; numbers stay numbers."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell
