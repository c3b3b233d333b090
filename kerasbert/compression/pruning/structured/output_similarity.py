"""The similarity of two models' outputs on the same rows, without labels."""

from collections.abc import Mapping, Sequence

import numpy as np

from kerasbert.processors.decisions import same_decisions
from kerasbert.processors.metrics import cosine, pearson

# `Processor.compared_as` -> the measure; decisions agree for any other one.
_MEASURES = {"embedding": "cosine", "regression": "correlation"}


def measure_name(compared_as: str) -> str:
    """Return the name of the measure for a task: `cosine` of vectors, `correlation` of scores, or `agreement` of decisions.

    Args:
        compared_as: See `kerasbert.processors.Processor`.
    """
    return _MEASURES.get(compared_as, "agreement")


class OutputSimilarity:
    """The similarity of a model's outputs to a reference's, summed up batch by batch.

    Args:
        compared_as: See `kerasbert.processors.Processor`.
    """

    def __init__(self, compared_as: str) -> None:
        self.compared_as = compared_as
        self._noise = self._signal = 0.0
        self._parts: list[np.ndarray] = []

    def add(self, reference: Sequence[Mapping[str, np.ndarray]], outputs: Sequence[Mapping[str, np.ndarray]]) -> None:
        """Add rows of both models.

        Args:
            reference: What `Processor.comparable` returns for each row of the reference: arrays `(n, width)`.
            outputs: The same of the other model.
        """
        for reference_row, row in zip(reference, outputs, strict=True):
            for name, expected in reference_row.items():
                received = row[name]
                self._noise += float(np.square(received - expected, dtype=np.float64).sum())
                self._signal += float(np.square(expected, dtype=np.float64).sum())
                self._parts.append(self._compare(expected, received))

    def _compare(self, expected: np.ndarray, received: np.ndarray) -> np.ndarray:
        if self.compared_as == "regression":
            return np.stack([expected.ravel(), received.ravel()])
        if self.compared_as == "embedding":
            return cosine(expected, received)
        return same_decisions(expected, received, self.compared_as).ravel()

    @property
    def value(self) -> float:
        """The mean cosine, the correlation, or the share of equal decisions; 1 for equal outputs, 0 without any."""
        if not self._parts:
            return 0.0
        if self.compared_as == "regression":
            return float(pearson(*np.concatenate(self._parts, axis=1)))
        compared = np.concatenate(self._parts)
        return float(compared.mean()) if compared.size else 0.0

    @property
    def error(self) -> float:
        """The Euclidean norm of the difference, as a share of the reference's."""
        return float(np.sqrt(self._noise / max(self._signal, 1e-30)))
