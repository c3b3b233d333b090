"""How well each class is found."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.processors.token_classification.entities import Span, spans


@dataclass(frozen=True)
class ClassScore:
    """One class or entity type: how often it is true, was found, and both."""

    true: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        total = self.true + self.found
        return 2 * self.right / total if total else 0.0


def of_classes(truth: np.ndarray, found: np.ndarray, labels: Sequence[str]) -> dict[str, ClassScore]:
    """Of class numbers (rows,), in the order of the labels."""
    return of_label_sets(*(np.asarray(side)[:, None] == np.arange(len(labels)) for side in (truth, found)), labels)


def of_label_sets(truth: np.ndarray, found: np.ndarray, labels: Sequence[str]) -> dict[str, ClassScore]:
    """Of yes or no for each label, (rows, labels) bool."""
    counts = zip(labels, truth.sum(axis=0), found.sum(axis=0), (truth & found).sum(axis=0), strict=True)
    return {label: ClassScore(*map(int, numbers)) for label, *numbers in counts}


def of_entities(truth: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> dict[str, ClassScore]:
    """Of the tags of some sentences, by entity type."""
    return _of_sets(*([set(spans(tags)) for tags in side] for side in (truth, found)))


def of_tags(truth: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> dict[str, ClassScore]:
    """Of tags that mark no entities, such as parts of speech."""
    return _of_sets(
        *([{Span(tag, i, i + 1) for i, tag in enumerate(tags)} for tags in side] for side in (truth, found))
    )


def _of_sets(truth: Sequence[set[Span]], found: Sequence[set[Span]]) -> dict[str, ClassScore]:
    counts: dict[str, list[int]] = {}
    for wanted, got in zip(truth, found, strict=True):
        for place, spans_of in enumerate((wanted, got, wanted & got)):
            for span in spans_of:
                counts.setdefault(span.label, [0, 0, 0])[place] += 1
    return {label: ClassScore(*counts[label]) for label in sorted(counts)}
