"""Compares the outputs of two models, and their metrics; NumPy only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.export.validation.confidence import Bounds, half_width, independent_decisions
from kerasbert.processors.contributions import Contributions
from kerasbert.processors.decisions import decisions_of
from kerasbert.processors.metrics import cosine, pearson


@dataclass(frozen=True)
class OutputDifference:
    """One output, `model` against `reference`, compared line by line. A line is the vector of a row or of a token.

    Attributes:
        name: The output's name.
        max_error: The largest absolute error.
        mean_error: The mean absolute error.
        cosine: The mean over lines, or that of the whole column for a score.
        agreement: The share of lines (multi-label: of decisions) with the same prediction; None for a score.
        correlation: Pearson's, for a score; None where the reference is constant.
        broken: Lines with NaN or infinity.
        lines: All lines.
        decisions: Independent decisions behind the agreement.
        one_answer: Whether the reference decides the same everywhere.
        cosine_deviation: The standard deviation of the lines' cosines.
        score_shift: The mean over lines by which the score of the reference's prediction moves, see `score_shifts`; None where nothing can.
        largest_score_shift: The largest one.
        score_deviation: The standard deviation of the lines' shifts.
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
    score_shift: float | None = None
    largest_score_shift: float | None = None
    score_deviation: float = 0.0


@dataclass(frozen=True)
class Evidence:
    """The spread of a metric over examples, from which its confidence bounds follow.

    Attributes:
        rows: Examples that it is measured on.
        deviation: The standard deviation of the share that is kept, over rows.
        worth: The share that one lost row costs, times the rows; see `confidence.half_width`.
        chance: The metric of one answer for all.
        chance_answer: That answer.
        reference_deviation: The same of the reference's metric.
        reference_worth: The same of the reference's metric.
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
        """Compute it by the delta method of a ratio, from the contributions of the same examples to both metrics."""
        share = model.value / reference.value if reference.value > 0 else 0.0
        scale = reference.value if reference.value > 0 else 1.0
        lost = (model.influence - share * reference.influence) / scale
        return cls(
            len(lost),
            float(np.std(lost)),
            reference.worth / scale,
            reference.chance,
            reference.chance_answer,
            float(np.std(reference.influence)),
            reference.worth,
        )

    def share_bounds(self, share: float, rows: float | None = None) -> Bounds:
        """Return the bounds of a share that is kept, each with 95 % confidence.

        Args:
            share: The measured share.
            rows: A number of rows like these; None for these.
        """
        width = half_width(self.deviation, self.worth, rows or self.rows)
        return max(share - width, 0.0), share + width


@dataclass(frozen=True)
class Metric:
    """A task's metric of the reference and of the model.

    Attributes:
        name: The metric's name.
        reference: Its value for the reference.
        model: Its value for the model.
        evidence: The spread over examples; None where it is not known.
    """

    name: str
    reference: float
    model: float
    evidence: Evidence | None = None

    @property
    def share(self) -> float:
        """The share that the model keeps of the reference's; NaN where that is 0."""
        return self.model / self.reference if self.reference else float("nan")

    @property
    def row_share(self) -> float | None:
        """The share that one row is worth; None where it is not known."""
        return self.evidence.worth / self.evidence.rows if self.evidence and self.reference > 0 else None

    def share_bounds(self, rows: float | None = None) -> Bounds | None:
        """Return the bounds of the share, each with 95 % confidence; None where its spread is not known.

        Args:
            rows: A number of rows like these; None for these.
        """
        return None if self.evidence is None else self.evidence.share_bounds(self.share, rows)

    def above_chance(self, rows: float | None = None) -> bool:
        """Tell whether the reference is better than one answer for all, with 95 % confidence.

        Args:
            rows: A number of rows like these; None for these.
        """
        evidence = self.evidence
        if evidence is None:
            return self.reference > 0
        width = half_width(evidence.reference_deviation, evidence.reference_worth, rows or evidence.rows)
        return self.reference - width > evidence.chance

    def as_dict(self) -> dict[str, object]:
        """Return the metric as a dict for JSON."""
        fields: dict[str, object] = {
            "name": self.name, "reference": self.reference, "model": self.model, "share": self.share,
        }  # fmt: skip
        bounds = self.share_bounds()
        if self.evidence is not None and bounds is not None:
            low, high = bounds
            fields |= {"rows": self.evidence.rows, "share_low": low, "share_high": high, "row_share": self.row_share}
            fields |= {"chance": self.evidence.chance, "chance_answer": self.evidence.chance_answer}
        return fields


@dataclass(frozen=True)
class Calibration:
    """The expected calibration errors of two models on the same labelled rows, see `kerasbert.processors.metrics.calibration_error`.

    Attributes:
        reference: That of the reference.
        model: That of the model.
        rows: Labelled rows.
    """

    reference: float
    model: float
    rows: int


def compare(
    name: str,
    pairs: Iterable[tuple[np.ndarray, np.ndarray]],
    compared_as: str,
    row_lines: Sequence[int] | None = None,
) -> OutputDifference:
    """Compare one output of two models. Lines that are not finite count as broken and are left out.

    Args:
        name: The output's name.
        pairs: (reference, model), each (n, width), some lines at a time; widths may differ from pair to pair.
        compared_as: See `kerasbert.processors.Processor`.
        row_lines: Lines of each row, whose decisions depend on each other; None where a line is a row.
    """
    differences = _Differences(compared_as)
    for reference, model in pairs:
        differences.add(np.asarray(reference, np.float64), np.asarray(model, np.float64))
    return differences.result(name, row_lines)


class _Differences:
    """Sums over pairs: all lines in float64 may not fit into memory."""

    def __init__(self, compared_as: str) -> None:
        self.compared_as = compared_as
        self.lines = self.finite = self.numbers = 0
        self.largest = self.total = 0.0
        self.cosines: list[np.ndarray] = []
        self.scores: list[tuple[np.ndarray, np.ndarray]] = []
        self.same: list[np.ndarray] = []  # of every line, broken ones included: equal decisions, all decisions
        self.answers: set[tuple[int, ...]] = set()  # a few decisions of the reference
        self.shifts: list[np.ndarray] = []

    def add(self, reference: np.ndarray, model: np.ndarray) -> None:
        finite = np.asarray(np.isfinite(model).all(axis=1) & np.isfinite(reference).all(axis=1))
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
        self.shifts.append(score_shifts(reference, model, self.compared_as))
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
        mean_cosine, deviation, correlation = 0.0, 0.0, None
        if self.cosines:
            cosines = np.concatenate(self.cosines)
            mean_cosine, deviation = float(cosines.mean()), float(cosines.std())
        if self.scores:
            reference, model = (np.concatenate(side) for side in zip(*self.scores, strict=True))
            mean_cosine = float(cosine(reference[None], model[None])[0])
            correlation = pearson(reference, model) if np.ptp(reference) else None
            self.shifts = [np.abs(model - reference) / np.ptp(reference)] if np.ptp(reference) else []
        same, decisions = _by_row(np.concatenate(self.same), row_lines).T
        shifts = np.concatenate(self.shifts) if self.shifts else None
        return OutputDifference(
            name,
            self.largest,
            self.total / self.numbers,
            mean_cosine,
            float(same.sum() / decisions.sum()) if decisions.any() else None,
            correlation,
            broken,
            self.lines,
            independent_decisions(same, decisions),
            len(self.answers) == 1,
            deviation,
            None if shifts is None else float(shifts.mean()),
            None if shifts is None else float(shifts.max()),
            0.0 if shifts is None else float(shifts.std()),
        )


def score_shifts(reference: np.ndarray, model: np.ndarray, compared_as: str) -> np.ndarray:
    """Return by how much the score of the reference's prediction moves in each line.

    That is the probability of its class, the probability of the label that moves most, or the share by which a vector is longer or shorter.
    For scores of a regression, `compare` measures it as a share of their range.

    Args:
        reference: Outputs of one model, `(n, width)`.
        model: Outputs of the other model, `(n, width)`.
        compared_as: See `kerasbert.processors.Processor`.

    Returns:
        The absolute shifts, `(n,)`.
    """
    if compared_as == "embedding":
        first, second = (np.linalg.norm(side, axis=1) for side in (reference, model))
        return np.abs(second - first) / np.where(first > 0, first, 1.0)
    errors = np.abs(model - reference)
    if compared_as == "multi_label":
        return errors.max(axis=1)
    return errors[np.arange(len(errors)), reference.argmax(axis=1)]


def _by_row(lines: np.ndarray, row_lines: Sequence[int] | None) -> np.ndarray:
    """Sums the lines (lines, 2) of each row that has some."""
    if row_lines is None:
        return lines
    counts = np.array([count for count in row_lines if count], int)
    return np.add.reduceat(lines, np.cumsum(counts) - counts, axis=0) if len(counts) else lines
