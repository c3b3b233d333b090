"""How far two sets of outputs are apart, and how well one of them does the task; NumPy only."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kerasbert.problems.decisions import same_decisions
from kerasbert.problems.measures import cosine, pearson


@dataclass(frozen=True)
class OutputDifference:
    """One output, `model` against `reference`, compared line by line: a line is a row's, or a token's, vector of floats.

    `agreement` is the share of lines (multi-label: of decisions) with the same prediction; `correlation` (Pearson)
    takes its place where the output is one score. `cosine` is the mean over lines, or over the whole column for a
    score. `broken` counts lines with NaN or infinity, of `lines` in all.
    """

    name: str
    max_error: float
    mean_error: float
    cosine: float
    agreement: float | None
    correlation: float | None
    broken: int
    lines: int = 0


@dataclass(frozen=True)
class Metric:
    """The task's metric for both sides; `share` is what the model keeps of the reference's."""

    name: str
    reference: float
    model: float

    @property
    def share(self) -> float:
        if self.reference == 0:
            return 1.0 if self.model == 0 else float("inf")
        return self.model / self.reference

    def as_dict(self) -> dict[str, object]:
        return {"name": self.name, "reference": self.reference, "model": self.model, "share": self.share}


def compare(name: str, pairs: Iterable[tuple[np.ndarray, np.ndarray]], compared_as: str) -> OutputDifference:
    """Measures a model against a reference. Lines that are not finite count as broken and are left out.

    pairs: (reference, model), each (n, width), some lines at a time; widths may differ from pair to pair. compared_as: see
    `kerasbert.problems.Problem`.
    """
    found = _Differences(compared_as)
    for reference, model in pairs:
        found.add(np.asarray(reference, np.float64), np.asarray(model, np.float64))
    return found.result(name)


class _Differences:
    """Sums over pairs, since all of them in float64 may be too much to hold."""

    def __init__(self, compared_as: str):
        self.compared_as = compared_as
        self.lines = self.finite = self.numbers = self.decisions = self.same = 0
        self.largest = self.total = self.cosines = 0.0
        self.scores: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, reference: np.ndarray, model: np.ndarray) -> None:
        finite = np.isfinite(model).all(axis=1) & np.isfinite(reference).all(axis=1)
        self.lines += len(finite)
        self.finite += int(finite.sum())
        reference, model = reference[finite], model[finite]
        if not model.size:
            return
        errors = np.abs(model - reference)
        self.numbers += errors.size
        self.largest, self.total = max(self.largest, float(errors.max())), self.total + float(errors.sum())
        if self.compared_as == "regression" or (model.shape[1] == 1 and self.compared_as != "multi_label"):
            self.scores.append((reference.ravel(), model.ravel()))
            return
        self.cosines += float(cosine(reference, model).sum())
        if self.compared_as != "embedding":
            same = same_decisions(reference, model, self.compared_as)
            self.decisions, self.same = self.decisions + same.size, self.same + int(same.sum())

    def result(self, name: str) -> OutputDifference:
        broken = self.lines - self.finite
        if not self.numbers:
            return OutputDifference(name, float("inf"), float("inf"), 0.0, None, None, broken, self.lines)
        alike, correlation = self.cosines / self.finite, None
        if self.scores:
            sides = [np.concatenate(side) for side in zip(*self.scores, strict=True)]
            alike, correlation = float(cosine(*(side[None] for side in sides))[0]), pearson(*sides)
        return OutputDifference(
            name,
            self.largest,
            self.total / self.numbers,
            alike,
            self.same / self.decisions if self.decisions else None,
            correlation,
            broken,
            self.lines,
        )
