"""How far two sets of outputs are apart, and how well one of them does the task; NumPy only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.export.validation.confidence import Bounds, half_width, independent_decisions
from kerasbert.processors.contributions import Contributions
from kerasbert.processors.decisions import decisions_of
from kerasbert.processors.metrics import cosine, pearson


@dataclass(frozen=True)
class OutputDifference:
    """One output, `model` against `reference`, compared line by line: a line is a row's, or a token's, vector of floats.

    `agreement` is the share of lines (multi-label: of decisions) with the same prediction; `correlation` (Pearson)
    takes its place where the output is one score, and is None where the reference is constant. `cosine` is the mean over
    lines, or over the whole column for a score. `broken` counts lines with NaN or infinity, of `lines` in all.
    `decisions` is how many independent decisions the agreement stands on, `one_answer` whether the reference decides the same
    everywhere, `cosine_deviation` the standard deviation of the lines' cosines.
    """

    name: str
    max_error: float
    mean_error: float
    cosine: float
    agreement: float | None
    correlation: float | None
    broken: int
    lines: int = 0
    decisions: float = 0.0
    one_answer: bool = False
    cosine_deviation: float = 0.0


@dataclass(frozen=True)
class Evidence:
    """What tells how far a metric can be trusted.

    Attributes:
        rows: examples it stands on.
        deviation, worth: of the share that is kept, see `confidence.half_width`.
        chance, chance_answer: the metric of always giving one answer, and that answer.
        reference_deviation, reference_worth: of the reference's metric.
    """

    rows: int
    deviation: float
    worth: float
    chance: float
    chance_answer: str
    reference_deviation: float
    reference_worth: float

    @classmethod
    def of(cls, reference: Contributions, model: Contributions) -> "Evidence":
        """From what each example adds to both sides' metrics, which are of the same examples: by the delta method of a ratio."""
        share = model.value / reference.value if reference.value > 0 else 0.0
        scale = reference.value if reference.value > 0 else 1.0
        kept = (model.influence - share * reference.influence) / scale
        return cls(
            len(kept),
            float(np.std(kept)),
            reference.worth / scale,
            reference.chance,
            reference.chance_answer,
            float(np.std(reference.influence)),
            reference.worth,
        )


@dataclass(frozen=True)
class Metric:
    """The task's metric for both sides; `share` is what the model keeps of the reference's, NaN where that has none."""

    name: str
    reference: float
    model: float
    evidence: Evidence | None = None

    @property
    def share(self) -> float:
        return self.model / self.reference if self.reference else float("nan")

    @property
    def row_share(self) -> float | None:
        """The share that one row is worth; None where it is not known."""
        return self.evidence.worth / self.evidence.rows if self.evidence and self.reference > 0 else None

    def share_bounds(self, rows: float | None = None) -> Bounds | None:
        """What the share surely lies above, and below. rows: what if there were so many rows; None: those that there are."""
        if self.evidence is None:
            return None
        width = half_width(self.evidence.deviation, self.evidence.worth, rows or self.evidence.rows)
        return max(self.share - width, 0.0), self.share + width

    def above_chance(self, rows: float | None = None) -> bool:
        """Whether the reference is surely better than one answer for all. rows: as in `share_bounds`."""
        if self.evidence is None:
            return self.reference > 0
        e = self.evidence
        return self.reference - half_width(e.reference_deviation, e.reference_worth, rows or e.rows) > e.chance

    def as_dict(self) -> dict[str, object]:
        facts: dict[str, object] = {
            "name": self.name, "reference": self.reference, "model": self.model, "share": self.share,
        }  # fmt: skip
        if self.evidence is not None:
            low, high = self.share_bounds()
            facts |= {"rows": self.evidence.rows, "share_low": low, "share_high": high, "row_share": self.row_share}
            facts |= {"chance": self.evidence.chance, "chance_answer": self.evidence.chance_answer}
        return facts


def compare(
    name: str,
    pairs: Iterable[tuple[np.ndarray, np.ndarray]],
    compared_as: str,
    row_lines: Sequence[int] | None = None,
) -> OutputDifference:
    """Measures a model against a reference. Lines that are not finite count as broken and are left out.

    pairs: (reference, model), each (n, width), some lines at a time; widths may differ from pair to pair. compared_as: see
    `kerasbert.processors.Processor`. row_lines: lines of each row, whose decisions depend on each other; None: a line is a row.
    """
    found = _Differences(compared_as)
    for reference, model in pairs:
        found.add(np.asarray(reference, np.float64), np.asarray(model, np.float64))
    return found.result(name, row_lines)


class _Differences:
    """Sums over pairs, since all of them in float64 may be too much to hold."""

    def __init__(self, compared_as: str):
        self.compared_as = compared_as
        self.lines = self.finite = self.numbers = 0
        self.largest = self.total = 0.0
        self.cosines: list[np.ndarray] = []
        self.scores: list[tuple[np.ndarray, np.ndarray]] = []
        self.same: list[np.ndarray] = []  # of each line, also those that are broken: equal decisions, of how many
        self.answers: set[tuple[int, ...]] = set()  # a few of the reference's

    def add(self, reference: np.ndarray, model: np.ndarray) -> None:
        finite = np.isfinite(model).all(axis=1) & np.isfinite(reference).all(axis=1)
        self.lines += len(finite)
        self.finite += int(finite.sum())
        self.same.append(np.zeros((len(finite), 2)))
        reference, model = reference[finite], model[finite]
        if not model.size:
            return
        errors = np.abs(model - reference)
        self.numbers += errors.size
        self.largest, self.total = max(self.largest, float(errors.max())), self.total + float(errors.sum())
        if self.compared_as == "regression" or (model.shape[1] == 1 and self.compared_as != "multi_label"):
            self.scores.append((reference.ravel(), model.ravel()))
            return
        self.cosines.append(cosine(reference, model))
        if self.compared_as == "embedding":
            return
        decisions = [decisions_of(side, self.compared_as).reshape(len(side), -1) for side in (reference, model)]
        self.same[-1][finite, 0] = (decisions[0] == decisions[1]).sum(axis=1)
        self.same[-1][finite, 1] = decisions[0].shape[1]
        if len(self.answers) < 2:
            self.answers |= set(map(tuple, np.unique(decisions[0], axis=0)[:2].tolist()))

    def result(self, name: str, row_lines: Sequence[int] | None) -> OutputDifference:
        broken = self.lines - self.finite
        if not self.numbers:
            return OutputDifference(name, float("inf"), float("inf"), 0.0, None, None, broken, self.lines)
        alike, deviation, correlation = 0.0, 0.0, None
        if self.cosines:
            cosines = np.concatenate(self.cosines)
            alike, deviation = float(cosines.mean()), float(cosines.std())
        if self.scores:
            sides = [np.concatenate(side) for side in zip(*self.scores, strict=True)]
            alike = float(cosine(*(side[None] for side in sides))[0])
            correlation = pearson(*sides) if np.ptp(sides[0]) else None
        same, decisions = _by_row(np.concatenate(self.same), row_lines).T
        return OutputDifference(
            name,
            self.largest,
            self.total / self.numbers,
            alike,
            float(same.sum() / decisions.sum()) if decisions.any() else None,
            correlation,
            broken,
            self.lines,
            independent_decisions(same, decisions),
            len(self.answers) == 1,
            deviation,
        )


def _by_row(lines: np.ndarray, row_lines: Sequence[int] | None) -> np.ndarray:
    """Sums of the lines (lines, 2) of each row, of the rows that have some."""
    if row_lines is None:
        return lines
    counts = np.array([count for count in row_lines if count], int)
    return np.add.reduceat(lines, np.cumsum(counts) - counts, axis=0) if len(counts) else lines
