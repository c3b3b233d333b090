"""The display of predictions: columns and cells of a table, and one line in a report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]


def text_fields(example: Any) -> dict[str, Any]:
    """Return the fields of a record for a text, or a pair of texts."""
    return {"text": example[0], "pair": example[1]} if isinstance(example, tuple) else {"text": example}


@dataclass(frozen=True)
class Display:
    """The display of one processor's predictions.

    A record has the fields of an example and of its prediction, as `kerasbert predict --json` prints it.

    Attributes:
        columns: Headings of the table, without that of a second text.
        lines: A function of a record to lines of cells; a prediction may have several lines, such as one for each entity.
        fields: A function of an example to its fields of a record.
        summary: A function of a prediction to one line, by which a report compares two models; None where predictions are numbers.
        limit: A function of a prediction and `top_k` to the prediction with the `top_k` most likely alternatives; None where predictions
            list no alternatives.
    """

    columns: tuple[str, ...]
    lines: Callable[[Record], Sequence[list[str]]]
    fields: Callable[[Any], dict[str, Any]] = text_fields
    summary: Callable[[Record], str] | None = None
    limit: Callable[[dict[str, Any], int], dict[str, Any]] | None = None


def pair_cell(record: Record) -> list[str]:
    """Return the cell of a second text, if the record has one."""
    return [record["pair"]] if "pair" in record else []


def likeliest_classes(prediction: dict[str, Any], top_k: int) -> dict[str, Any]:
    """Return the prediction with its `top_k` most likely classes only, best first."""
    ranked = sorted(prediction["probabilities"].items(), key=lambda item: -item[1])
    return {**prediction, "probabilities": dict(ranked[:top_k])}
