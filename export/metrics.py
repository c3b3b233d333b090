"""How far two sets of outputs are apart, and how well one of them does the task; NumPy only."""

from dataclasses import dataclass

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.problems.measures import cosine, micro_f1, pearson, spearman


@dataclass(frozen=True)
class OutputDifference:
    """One output, `model` against `reference`, both (N, width) float.

    `agreement` is the share of rows (multi-label: of decisions) with the same prediction; `correlation` (Pearson)
    takes its place where the output is one score. `cosine` is the mean over rows, or over the whole column for a
    score. `broken` counts rows with NaN or infinity.
    """

    name: str
    max_error: float
    mean_error: float
    cosine: float
    agreement: float | None
    correlation: float | None
    broken: int


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


def compare(name: str, reference: np.ndarray, model: np.ndarray, problem: str) -> OutputDifference:
    """Measures `model` (N, width) against `reference` of the same shape; rows that are not finite count as broken and
    are left out."""
    reference, model = (np.asarray(side, np.float64).reshape(len(side), -1) for side in (reference, model))
    finite = np.isfinite(model).all(axis=1) & np.isfinite(reference).all(axis=1)
    broken = int(np.count_nonzero(~finite))
    reference, model = reference[finite], model[finite]
    if not len(model):
        return OutputDifference(name, float("inf"), float("inf"), 0.0, None, None, broken)
    errors = np.abs(model - reference)
    score = problem == "regression" or reference.shape[1] == 1 and problem != "multi_label"
    alike = cosine(reference.T, model.T) if score else cosine(reference, model)
    return OutputDifference(
        name,
        float(errors.max()),
        float(errors.mean()),
        float(alike.mean()),
        None if score or problem == "embedding" else agreement(reference, model, problem),
        pearson(reference[:, 0], model[:, 0]) if score else None,
        broken,
    )


def agreement(reference: np.ndarray, model: np.ndarray, problem: str) -> float:
    """Share of equal predictions: the class of each row, or each label's yes or no at 0.5 for `multi_label`."""
    if problem == "multi_label":
        return float(np.mean((reference >= 0.5) == (model >= 0.5)))
    return float(np.mean(reference.argmax(axis=1) == model.argmax(axis=1)))


def task_metric(problem: str, labels: np.ndarray, reference: np.ndarray, model: np.ndarray) -> tuple[Metric, ...]:
    """The task's metrics of both sides: accuracy; micro F1 for `multi_label`; Spearman and Pearson for scores.

    Args:
        labels: class indices (N,), 0/1 per label (N, C), or target scores (N,).
        reference, model: outputs (N, C), or scores (N, 1).
    """
    if problem == "single_label":
        return (Metric("accuracy", *(float(np.mean(side.argmax(axis=1) == labels)) for side in (reference, model))),)
    if problem == "multi_label":
        return (Metric("micro F1", *(micro_f1(labels, side) for side in (reference, model))),)
    scores = [np.asarray(side, np.float64).reshape(len(labels)) for side in (reference, model)]
    return (
        Metric("Spearman", *(spearman(labels, side) for side in scores)),
        Metric("Pearson", *(pearson(labels, side) for side in scores)),
    )


def pair_cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cosine of each row of `first` (N, H) with the same row of `second`: a sentence encoder's similarity, (N, 1)."""
    return cosine(first, second)[:, None]


def check_labels(problem: str, labels: np.ndarray, classes: int) -> None:
    """Raises KerasBertError where labels cannot belong to an output of `classes` columns."""
    if problem == "single_label" and (labels.min(initial=0) < 0 or labels.max(initial=0) >= classes):
        outside = labels[(labels < 0) | (labels >= classes)][0]
        raise KerasBertError(
            f"Expected labels from 0 to {classes - 1}, the model's classes. Received: {outside}. Check the data's "
            "label column."
        )
    if problem == "multi_label" and labels.shape[1:] != (classes,):
        raise KerasBertError(f"Expected labels of shape (N, {classes}) of 0 and 1. Received: {labels.shape}.")
