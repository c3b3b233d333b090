"""The parts of a report beyond totals: texts whose prediction changed, the confusion matrix, metrics by class."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kerasbert.data.entities import spans
from kerasbert.export.validation.examples import Examples, RowOutputs
from kerasbert.processors.class_metrics import ClassMetrics
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.tagging import Tagging

MAX_CHANGED = 50
_MAX_CLASSES = 40
_MAX_TEXT = 300  # characters of a text


@dataclass(frozen=True)
class Changed:
    """An example with another prediction than the reference's.

    Attributes:
        row: Its number in the data, from 0 on.
        text: The example, cut where it is long.
        reference: The reference's prediction.
        model: The file's prediction.
        label: The user's label; empty for none.
    """

    row: int
    text: str
    reference: str
    model: str
    label: str = ""


@dataclass(frozen=True)
class Details:
    """Rows and classes by the outputs of one backend.

    Attributes:
        backend: Its name.
        changed: The first examples with another prediction, of `changed_count` in all.
        changed_count: The number of all such examples.
        labels: The classes of the confusion matrix; empty where there is none.
        confusion: Counts of true class (first axis) by predicted class, (classes, classes) int; None where a text has not one class.
        classes: By class or entity type, the metrics of the reference and the file.
    """

    backend: str
    changed: tuple[Changed, ...] = ()
    changed_count: int = 0
    labels: tuple[str, ...] = ()
    confusion: np.ndarray | None = None
    classes: Mapping[str, tuple[ClassMetrics, ClassMetrics]] | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the details as a dict for JSON."""
        return {
            "backend": self.backend,
            "changed_count": self.changed_count,
            "changed": [asdict(each) for each in self.changed],
            "labels": list(self.labels),
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "classes": {
                name: {
                    side: {
                        "precision": metrics.precision,
                        "recall": metrics.recall,
                        "f1": metrics.f1,
                        "true": metrics.support,
                    }
                    for side, metrics in zip(("reference", "model"), pair, strict=True)
                }
                for name, pair in (self.classes or {}).items()
            },
        }


def details_of(
    backend: str, examples: Examples, reference: Sequence[RowOutputs], model: Sequence[RowOutputs]
) -> Details:
    """Compare rows and classes.

    Args:
        backend: Its name.
        examples: The rows.
        reference: The reference's outputs, one entry a row.
        model: The backend's.
    """
    changed = _changed_examples(examples, reference, model)
    fields: dict[str, Any] = {"changed": tuple(changed[:MAX_CHANGED]), "changed_count": len(changed)}
    if examples.y is None:
        return Details(backend, **fields)
    processor = examples.processor
    before, after = (processor.class_metrics(*examples.scoring_arguments(side)) for side in (reference, model))
    names = tuple(dict.fromkeys([*before, *after]))
    nothing = ClassMetrics(0, 0, 0)
    fields["classes"] = {name: (before.get(name, nothing), after.get(name, nothing)) for name in names} or None
    if isinstance(processor, SingleLabel) and len(names) <= _MAX_CLASSES:
        fields |= {"labels": names, "confusion": _confusion(processor, examples, model, len(names))}
    return Details(backend, **fields)


def _confusion(processor: SingleLabel, examples: Examples, model: Sequence[RowOutputs], classes: int) -> np.ndarray:
    y, raw, features, raw_results = examples.scoring_arguments(model)
    labels, predictions = processor.encode_labels(y, raw, features), processor.table(raw_results).argmax(axis=1)
    matrix = np.zeros((classes, classes), int)
    np.add.at(matrix, (labels, predictions), 1)
    return matrix


def _changed_examples(
    examples: Examples, reference: Sequence[RowOutputs], model: Sequence[RowOutputs]
) -> list[Changed]:
    """Find all examples with another prediction; none of packed rows, which have no text, and of predictions that are numbers."""
    summarize = examples.processor.display.summary
    if summarize is None or examples.raw is None:
        return []
    before, after = (
        examples.processor.predictions(examples.raw, examples.features, [outputs.raw_result for outputs in side])
        for side in (reference, model)
    )
    _, first_rows = np.unique(examples.features.example, return_index=True)
    changed = []
    for place, (old, new) in enumerate(zip(map(summarize, before), map(summarize, after), strict=True)):
        if old != new:
            example = examples.raw[place]
            words = example if isinstance(examples.processor, Tagging) and not isinstance(example, str) else None
            label = "" if examples.y is None else _cut(_format_label(examples.y[place], words))
            text = _cut(" ".join(words) if words else _format_text(example))
            changed.append(Changed(int(examples.row_numbers[first_rows[place]]), text, _cut(old), _cut(new), label))
    return changed


def _format_text(example: Any) -> str:
    if isinstance(example, str):
        return example
    return " | ".join(part if isinstance(part, str) else ", ".join(part) for part in example)


def _format_label(value: Any, words: Sequence[str] | None) -> str:
    """Write a label as predictions are written. Words are those of a sentence that is tagged word by word."""
    if words and all(isinstance(tag, str) for tag in value):
        entities = (f"{span.label}: {' '.join(words[span.first : span.end])}" for span in spans(value))
        return ", ".join(entities) or "none"
    if isinstance(value, Mapping):
        return str(value.get("text") or value.get("label") or "no answer")
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(dict.fromkeys(_format_label(each, None) for each in value)) or "none"
    return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
