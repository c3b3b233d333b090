"""Precision, recall and F1 of each class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.processors.token_classification.entities import Span, spans


@dataclass(frozen=True)
class ClassMetrics:
    """Counts of one class or entity type.

    Attributes:
        true: Number of labels of this class.
        found: Number of predictions of this class.
        right: Number of predictions of this class that are right.
    """

    true: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        """Right of found, 0 to 1."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Right of true, 0 to 1."""
        return self.right / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 0 to 1."""
        total = self.true + self.found
        return 2 * self.right / total if total else 0.0


def of_classes(truth: np.ndarray, predicted: np.ndarray, labels: Sequence[str]) -> dict[str, ClassMetrics]:
    """Metrics of class numbers `(rows,)`, in the order of the labels."""
    true, found = (np.asarray(numbers)[:, None] == np.arange(len(labels)) for numbers in (truth, predicted))
    return of_label_sets(true, found, labels)


def of_label_sets(truth: np.ndarray, predicted: np.ndarray, labels: Sequence[str]) -> dict[str, ClassMetrics]:
    """Metrics of label sets, bool `(rows, labels)`."""
    counts = zip(labels, truth.sum(axis=0), predicted.sum(axis=0), (truth & predicted).sum(axis=0), strict=True)
    return {label: ClassMetrics(int(true), int(found), int(right)) for label, true, found, right in counts}


def of_entities(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, ClassMetrics]:
    """Metrics of the entities that the tags of some sentences mark, by entity type."""
    return _of_spans([set(spans(tags)) for tags in truth], [set(spans(tags)) for tags in predicted])


def of_tags(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, ClassMetrics]:
    """Metrics of tags that mark no entities, such as parts of speech."""
    true, found = (
        [{Span(tag, place, place + 1) for place, tag in enumerate(tags)} for tags in sentences]
        for sentences in (truth, predicted)
    )
    return _of_spans(true, found)


def _of_spans(truth: Sequence[set[Span]], predicted: Sequence[set[Span]]) -> dict[str, ClassMetrics]:
    counts: dict[str, list[int]] = {}
    for true, found in zip(truth, predicted, strict=True):
        for column, members in enumerate((true, found, true & found)):
            for span in members:
                counts.setdefault(span.label, [0, 0, 0])[column] += 1
    return {label: ClassMetrics(*counts[label]) for label in sorted(counts)}
