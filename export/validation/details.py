"""What a report tells beyond numbers of the whole: texts whose answer changed, the confusion matrix, each class by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from kerasbert.export.validation.examples import Examples, Kept
from kerasbert.processors.class_metrics import ClassMetrics
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.token_classification.entities import spans
from kerasbert.processors.token_classification.processor import Tagging

MOST_CHANGED = 50
_MOST_CLASSES = 40
_LONGEST = 300  # characters of a text


@dataclass(frozen=True)
class Changed:
    """An example that the file answers otherwise. row: its number in the data, from 0 on; label: as the user wrote it, if there is one."""

    row: int
    text: str
    reference: str
    model: str
    label: str = ""


@dataclass(frozen=True)
class Details:
    """What one backend's outputs tell of single rows and classes.

    Attributes:
        backend: whose outputs these are.
        changed: the first examples that are answered otherwise, of `changed_count` in all.
        labels, confusion: of one class a text, rows of each true class (first axis) by the file's class, (classes, classes) int.
        classes: by class or entity type, the scores of both sides.
    """

    backend: str
    changed: tuple[Changed, ...] = ()
    changed_count: int = 0
    labels: tuple[str, ...] = ()
    confusion: np.ndarray | None = None
    classes: Mapping[str, tuple[ClassMetrics, ClassMetrics]] | None = None

    def as_dict(self) -> dict[str, object]:
        """JSON-able."""
        return {
            "backend": self.backend,
            "changed_count": self.changed_count,
            "changed": [asdict(each) for each in self.changed],
            "labels": list(self.labels),
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "classes": {
                name: {
                    side: {"precision": score.precision, "recall": score.recall, "f1": score.f1, "true": score.support}
                    for side, score in zip(("reference", "model"), pair, strict=True)
                }
                for name, pair in (self.classes or {}).items()
            },
        }


def details_of(backend: str, examples: Examples, reference: Sequence[Kept], model: Sequence[Kept]) -> Details:
    """reference, model: what was kept of all rows of both sides."""
    processor = examples.processor
    changed = _changed(examples, reference, model)
    labels, matrix, classes = (), None, None
    if examples.y is not None:
        scores = [
            processor.class_metrics(*examples.scored([kept.reading for kept in side])) for side in (reference, model)
        ]
        names = list(dict.fromkeys([*scores[0], *scores[1]]))
        nothing = ClassMetrics(0, 0, 0)
        classes = {name: tuple(side.get(name, nothing) for side in scores) for name in names} or None
        if isinstance(processor, SingleLabel) and len(names) <= _MOST_CLASSES:
            y, asked, rows, raw_results = examples.scored([kept.reading for kept in model])
            truth, found = processor.encode_labels(y, asked, rows), processor.table(raw_results).argmax(axis=1)
            labels = tuple(names)
            matrix = np.zeros((len(names), len(names)), int)
            np.add.at(matrix, (truth, found), 1)
    return Details(backend, tuple(changed[:MOST_CHANGED]), len(changed), labels, matrix, classes)


def _changed(examples: Examples, reference: Sequence[Kept], model: Sequence[Kept]) -> list[Changed]:
    """All examples that are answered otherwise; none of packed rows, which have no text, and of answers that are numbers."""
    summarize = examples.processor.display.summary
    if summarize is None or examples.raw is None:
        return []
    sides = [
        examples.processor.predictions(examples.raw, examples.rows, [kept.reading for kept in side])
        for side in (reference, model)
    ]
    _, first = np.unique(examples.rows.example, return_index=True)
    found = []
    for place, pair in enumerate(zip(*sides, strict=True)):
        one, other = map(summarize, pair)
        if one != other:
            example = examples.raw[place]
            words = example if isinstance(examples.processor, Tagging) and not isinstance(example, str) else None
            label = "" if examples.y is None else _cut(_label(examples.y[place], words))
            text = _cut(" ".join(words) if words else _text(example))
            found.append(Changed(int(examples.numbers[first[place]]), text, _cut(one), _cut(other), label))
    return found


def _text(example) -> str:
    if isinstance(example, str):
        return example
    return " | ".join(part if isinstance(part, str) else ", ".join(part) for part in example)


def _label(value, words: Sequence[str] | None) -> str:
    """A label as the answers write it. words: of a sentence that is tagged word by word."""
    if words and all(isinstance(tag, str) for tag in value):
        return ", ".join(f"{s.label}: {' '.join(words[s.first : s.end])}" for s in spans(value)) or "none"
    if isinstance(value, Mapping):
        return str(value.get("text") or value.get("label") or "no answer")
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(dict.fromkeys(_label(each, None) for each in value)) or "none"
    return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
