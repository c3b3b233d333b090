"""What each example adds to a task's main metric: from it follows how far a metric of some examples can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kerasbert.processors import metrics


@dataclass(frozen=True)
class Ratio:
    """A metric that is `sum(parts) / sum(wholes)`, such as accuracy (1 or 0 of 1) and F1 (2 x found and right of true + found).

    Attributes:
        parts, wholes: (examples,) numbers.
        chance: the metric of always giving the same answer, whatever the text; 0 where there is no such answer.
        chance_answer: that answer, for people.
    """

    parts: np.ndarray
    wholes: np.ndarray
    chance: float = 0.0
    chance_answer: str = ""

    @classmethod
    def of_decisions(cls, right: np.ndarray, chance: float = 0.0, chance_answer: str = "") -> "Ratio":
        """One decision an example. right: (examples,) bool, or a score from 0 to 1."""
        right = np.asarray(right, np.float64)
        return cls(right, np.ones(len(right)), chance, chance_answer)

    @cached_property
    def value(self) -> float:
        """NaN where there is nothing to decide."""
        whole = np.sum(self.wholes)
        return float(np.sum(self.parts) / whole) if whole else float("nan")

    @cached_property
    def influence(self) -> np.ndarray:
        """How each example moves the metric, times the number of examples (delta method), (examples,); their mean is 0."""
        mean = np.mean(self.wholes)
        return (self.parts - self.value * self.wholes) / mean if mean else np.zeros(len(self.parts))

    @cached_property
    def worth(self) -> float:
        """By how much the metric falls when one example is lost, times the number of examples."""
        some = self.parts > 0
        return float(np.mean(self.parts[some]) / np.mean(self.wholes)) if some.any() else 1.0


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation of numbers, or of their ranks, (examples,) each; see `Ratio`."""

    truth: np.ndarray
    found: np.ndarray
    chance: float = 0.0
    chance_answer: str = ""

    @cached_property
    def value(self) -> float:
        """NaN where one side is constant."""
        constant = min(np.ptp(self.truth), np.ptp(self.found)) == 0
        return float("nan") if constant else metrics.pearson(self.truth, self.found)

    @cached_property
    def influence(self) -> np.ndarray:
        """See `Ratio`; of a correlation `x y - r (x^2 + y^2) / 2` of standardized numbers (Devlin, Gnanadesikan and Kettenring 1975)."""
        if np.isnan(self.value):
            return np.zeros(len(self.truth))
        x, y = ((side - np.mean(side)) / np.std(side) for side in (self.truth, self.found))
        return x * y - self.value * (x**2 + y**2) / 2

    @property
    def worth(self) -> float:
        return abs(self.value)


Contributions = Ratio | Correlation


def most_frequent(labels: Sequence) -> tuple[float, object]:
    """The share of the most frequent label, and that label; (0, None) without any."""
    values, counts = np.unique(np.asarray(labels), return_counts=True)
    if not len(values):
        return 0.0, None
    return float(counts.max() / counts.sum()), values[counts.argmax()].item()
