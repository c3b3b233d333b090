"""Precision, recall and F1 of each class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.data.entities import Span, spans


@dataclass(frozen=True)
class ClassMetrics:
    """Counts of one class or entity type.

    Attributes:
        support: Number of labels of this class.
        predicted: Number of predictions of this class.
        correct: Number of predictions of this class that are right.
    """

    support: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """Correct of all predictions, 0 to 1."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Correct of all labels, 0 to 1."""
        return self.correct / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 0 to 1."""
        total = self.support + self.predicted
        return 2 * self.correct / total if total else 0.0


def of_classes(truth: np.ndarray, predicted: np.ndarray, labels: Sequence[str]) -> dict[str, ClassMetrics]:
    """Compute the metrics of single-label classification.

    Args:
        truth: Class numbers `(rows,)`.
        predicted: Predicted class numbers `(rows,)`.
        labels: Names of the classes in their order.
    """
    classes = np.arange(len(labels))
    return of_label_sets(np.asarray(truth)[:, None] == classes, np.asarray(predicted)[:, None] == classes, labels)


def of_label_sets(truth: np.ndarray, predicted: np.ndarray, labels: Sequence[str]) -> dict[str, ClassMetrics]:
    """Compute the metrics of multi-label classification.

    Args:
        truth: Whether each row has each label, bool `(rows, labels)`.
        predicted: The same as predicted.
        labels: Names of the labels in their order.
    """
    counts = zip(labels, truth.sum(axis=0), predicted.sum(axis=0), (truth & predicted).sum(axis=0), strict=True)
    return {label: ClassMetrics(*map(int, numbers)) for label, *numbers in counts}


def of_entities(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, ClassMetrics]:
    """Compute the metrics of entities by their type, from the tags of some sentences."""
    return _of_spans([set(spans(tags)) for tags in truth], [set(spans(tags)) for tags in predicted])


def of_tags(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, ClassMetrics]:
    """Compute the metrics of tags that mark no entities, such as parts of speech."""
    return _of_spans(_tags_as_spans(truth), _tags_as_spans(predicted))


def _tags_as_spans(sentences: Sequence[Sequence[str]]) -> list[set[Span]]:
    return [{Span(tag, place, place + 1) for place, tag in enumerate(tags)} for tags in sentences]


def _of_spans(truth: Sequence[set[Span]], predicted: Sequence[set[Span]]) -> dict[str, ClassMetrics]:
    counts: dict[str, list[int]] = {}
    for true_spans, predicted_spans in zip(truth, predicted, strict=True):
        for column, members in enumerate((true_spans, predicted_spans, true_spans & predicted_spans)):
            for span in members:
                counts.setdefault(span.label, [0, 0, 0])[column] += 1
    return {label: ClassMetrics(*counts[label]) for label in sorted(counts)}
