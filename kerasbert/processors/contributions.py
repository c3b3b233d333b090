"""The contribution of each example to a task's main metric, from which confidence intervals follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kerasbert.processors import metrics


@dataclass(frozen=True)
class Ratio:
    """A metric of the form `sum(parts) / sum(wholes)`, such as accuracy (1 or 0 of 1) and F1 (2 x correct of labels + predictions).

    Attributes:
        parts: Numerator of each example, `(examples,)`.
        wholes: Denominator of each example, `(examples,)`.
        chance: The metric of always giving the most frequent answer; 0 where there is no such answer.
        chance_answer: That answer, for messages.
    """

    parts: np.ndarray
    wholes: np.ndarray
    chance: float = 0.0
    chance_answer: str = ""

    @classmethod
    def of_decisions(
        cls, correct: Sequence[float] | np.ndarray, chance: float = 0.0, chance_answer: str = ""
    ) -> "Ratio":
        """Return the ratio of one decision for each example.

        Args:
            correct: Whether each decision is right, or a score from 0 to 1, `(examples,)`.
            chance: See `Ratio`.
            chance_answer: See `Ratio`.
        """
        parts = np.asarray(correct, np.float64)
        return cls(parts, np.ones(len(parts)), chance, chance_answer)

    @cached_property
    def value(self) -> float:
        """The metric; NaN where there is nothing to decide."""
        whole = np.sum(self.wholes)
        return float(np.sum(self.parts) / whole) if whole else float("nan")

    @cached_property
    def influence(self) -> np.ndarray:
        """The effect of each example on the metric, times the number of examples (delta method), `(examples,)`; the mean is 0."""
        mean = np.mean(self.wholes)
        return (self.parts - self.value * self.wholes) / mean if mean else np.zeros(len(self.parts))

    @cached_property
    def worth(self) -> float:
        """The decrease of the metric when one right example becomes wrong, times the number of examples."""
        some = self.parts > 0
        return float(np.mean(self.parts[some]) / np.mean(self.wholes)) if some.any() else 1.0


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation of numbers, or of their ranks; see `Ratio`.

    Attributes:
        truth: Labels, `(examples,)`.
        predicted: Predictions, `(examples,)`.
        chance: See `Ratio`.
        chance_answer: See `Ratio`.
    """

    truth: np.ndarray
    predicted: np.ndarray
    chance: float = 0.0
    chance_answer: str = ""

    @cached_property
    def value(self) -> float:
        """The metric; NaN where one side is constant."""
        constant = min(np.ptp(self.truth), np.ptp(self.predicted)) == 0
        return float("nan") if constant else metrics.pearson(self.truth, self.predicted)

    @cached_property
    def influence(self) -> np.ndarray:
        """See `Ratio`.

        It is `x y - r (x^2 + y^2) / 2` of standardized numbers (Devlin, Gnanadesikan and Kettenring 1975).
        """
        if np.isnan(self.value):
            return np.zeros(len(self.truth))
        x, y = ((side - np.mean(side)) / np.std(side) for side in (self.truth, self.predicted))
        return x * y - self.value * (x**2 + y**2) / 2

    @property
    def worth(self) -> float:
        """See `Ratio`."""
        return abs(self.value)


Contributions = Ratio | Correlation


def most_frequent(labels: Sequence | np.ndarray) -> tuple[float, Any]:
    """Return the fraction of the most frequent label, and the label; (0, None) without labels."""
    values, counts = np.unique(np.asarray(labels), return_counts=True)
    if not len(values):
        return 0.0, None
    return float(counts.max() / counts.sum()), values[counts.argmax()].item()
