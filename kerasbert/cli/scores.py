"""The metrics of a task on labelled rows; NumPy only. The first one of a task is the one an epoch is chosen by."""

from collections.abc import Mapping

import numpy as np

from kerasbert.problems.measures import cosine, f1, matthews, micro_f1, pearson, spearman


def scores(problem: str, targets: np.ndarray, outputs: np.ndarray) -> dict[str, float]:
    """Metrics by name.

    targets: class indices (N,), 0/1 (N, classes), scores (N,) or vectors (N, H).
    outputs: what `predict` gives, (N, classes), (N, 1) or (N, H).
    """
    if problem == "single_label":
        return _classification(targets, outputs.argmax(axis=1), outputs.shape[1])
    if problem == "multi_label":
        found = outputs >= 0.5
        return {
            "micro F1": micro_f1(targets, outputs),
            "exact match": float(np.mean((found == (targets > 0)).all(axis=1))),
        }
    if problem == "regression":
        found = outputs.reshape(len(targets))
        return {"Spearman": spearman(targets, found), "Pearson": pearson(targets, found)}
    return {"cosine": float(cosine(targets, outputs).mean())}


def shown(values: Mapping[str, float]) -> str:
    """`accuracy 0.8911, F1 0.8927, MCC 0.7823`."""
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())


def _classification(truth: np.ndarray, found: np.ndarray, classes: int) -> dict[str, float]:
    accuracy = {"accuracy": float(np.mean(truth == found))}
    if classes == 2:
        return {**accuracy, "F1": f1(truth == 1, found == 1), "MCC": matthews(truth, found)}
    return {**accuracy, "macro F1": float(np.mean([f1(truth == c, found == c) for c in np.unique(truth)]))}
