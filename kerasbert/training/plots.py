"""Plots of a training run: loss, dev metrics and, for single-label classification, the confusion matrix."""

from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.files.atomic import atomic_file
from kerasbert.processors.classification import SingleLabel
from kerasbert.training.run_folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kerasbert.data.dataset import Dataset
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import Distiller

_MAX_CLASSES = 30


def write_plots(folder: RunFolder, task: "Task | Distiller", dev: "Dataset | None" = None) -> list[str]:
    """Plot the contents of metrics.jsonl into the run folder's `plots`.

    Args:
        folder: The run folder.
        task: The trained task, or its `Distiller`.
        dev: The dev data; a single-label task's confusion matrix on it is plotted.

    Returns:
        The names of the written files.
    """
    records = folder.records()
    epochs = [record for record in records if "learning_rate" not in record]
    written = []
    if epochs:
        losses = [(record["step"], record["loss"]) for record in records]
        written.append(_plot_curves(folder, "loss", {"loss": losses}))
    scored = [record for record in epochs if "dev" in record]
    if scored:
        curves = {name: [(record["step"], record["dev"][name]) for record in scored] for name in scored[0]["dev"]}
        written.append(_plot_curves(folder, "metric", curves))
    if dev is not None and isinstance(task.processor, SingleLabel) and len(task.labels or ()) <= _MAX_CLASSES:
        written.append(_plot_confusion(folder, task, dev))
    return written


def confusion_matrix(labels: np.ndarray, predictions: np.ndarray, classes: int) -> np.ndarray:
    """Count the examples of each label (first axis) and predicted class (second axis).

    Args:
        labels: The true classes as numbers.
        predictions: The predicted classes as numbers.
        classes: The number of classes.

    Returns:
        The counts, (classes, classes) int.
    """
    return np.bincount(labels * classes + predictions, minlength=classes * classes).reshape(classes, classes)


def _plot_curves(folder: RunFolder, name: str, curves: dict[str, list[tuple[int, float]]]) -> str:
    figure, axes = _new_figure(6.4, 3.6)
    for label, points in curves.items():
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=label)
    axes.set_xlabel("step")
    axes.set_ylabel(name)
    axes.grid(alpha=0.3)
    if len(curves) > 1:
        axes.legend(frameon=False)
    return _save(folder, figure, name)


def _plot_confusion(folder: RunFolder, task: Any, dev: "Dataset") -> str:
    predictions = np.array([task.labels.index(prediction["label"]) for prediction in task.predictions(dev)])
    counts = confusion_matrix(task.encode_labels(dev.y), predictions, len(task.labels))
    size = 1.6 + 0.5 * len(task.labels)
    figure, axes = _new_figure(max(size, 3.6), max(size, 3.2))
    axes.imshow(counts, cmap="Blues")
    for (row, column), count in np.ndenumerate(counts):
        dark = count > counts.max() / 2
        axes.text(column, row, str(count), ha="center", va="center", color="white" if dark else "black", fontsize=8)
    axes.set_xticks(range(len(task.labels)), task.labels, rotation=45, ha="right")
    axes.set_yticks(range(len(task.labels)), task.labels)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    return _save(folder, figure, "confusion")


def _new_figure(width: float, height: float) -> "tuple[Figure, Axes]":
    """Create a figure without pyplot, which keeps figures alive and may need a display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _save(folder: RunFolder, figure: "Figure", name: str) -> str:
    path = folder.plots / f"{name}.png"
    with atomic_file(path) as partial:
        figure.savefig(partial, format="png", dpi=120)
    return path.name
