"""How predictions are shown to people: columns and cells of a table, one line in a report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]


def text_fields(example: Any) -> dict[str, Any]:
    """The fields of a text, or of a pair of texts."""
    return {"text": example[0], "pair": example[1]} if isinstance(example, tuple) else {"text": example}


@dataclass(frozen=True)
class Display:
    """How one processor's predictions are shown.

    A record is an example's fields with those of its prediction, as `kerasbert predict --json` prints it.

    Attributes:
        columns: Headings of the table, without that of a second text.
        lines: A record to its lines of cells; a prediction may have several lines, such as one an entity.
        fields: An example to the fields by which a record names it.
        summary: A prediction in one line, by which a report compares two models; None where predictions are numbers.
        limit: A prediction with the `top_k` likeliest of what it lists; None for a processor whose predictions list nothing.
    """

    columns: tuple[str, ...]
    lines: Callable[[Record], Sequence[list[str]]]
    fields: Callable[[Any], dict[str, Any]] = text_fields
    summary: Callable[[Record], str] | None = None
    limit: Callable[[dict[str, Any], int], dict[str, Any]] | None = None


def pair_cell(record: Record) -> list[str]:
    """The cell of a second text, where the record has one."""
    return [record["pair"]] if "pair" in record else []


def likeliest_classes(prediction: dict[str, Any], top_k: int) -> dict[str, Any]:
    """The prediction with its `top_k` likeliest classes alone, best first."""
    ranked = sorted(prediction["probabilities"].items(), key=lambda item: -item[1])
    return {**prediction, "probabilities": dict(ranked[:top_k])}
