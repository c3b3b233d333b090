"""Plots of a training run: loss, dev metrics and, for single-label classification, the confusion matrix."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.files.atomic import atomic_file
from kerasbert.processors.classification import SingleLabel
from kerasbert.training.run_folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kerasbert.processors import Processor
    from kerasbert.processors.labelled_outputs import LabelledOutputs

_MAX_CLASSES = 30


def write_plots(folder: RunFolder, labels: Sequence[str] = (), confusion: np.ndarray | None = None) -> list[str]:
    """Plot the contents of metrics.jsonl, and a confusion matrix, into the run folder's `plots`.

    Args:
        folder: The run folder.
        labels: The names of the classes.
        confusion: See `confusion_matrix`; None plots none.

    Returns:
        The names of the written files.
    """
    records = folder.records()
    epochs = [record for record in records if "learning_rate" not in record]
    written = []
    if epochs:
        curves = {"loss": [(record["step"], record["loss"]) for record in records]}
        if dev := [(record["step"], record["val_loss"]) for record in epochs if "val_loss" in record]:
            curves = {"training": curves["loss"], "dev": dev}
        written.append(_plot_curves(folder, "loss", curves))
    scored = [record for record in epochs if "dev" in record]
    if scored:
        curves = {name: [(record["step"], record["dev"][name]) for record in scored] for name in scored[0]["dev"]}
        written.append(_plot_curves(folder, "metric", curves))
    if confusion is not None:
        written.append(_plot_confusion(folder, labels, confusion))
    return written


def confusion_matrix(processor: "Processor", outputs: "LabelledOutputs") -> np.ndarray | None:
    """Count the examples of each label (first axis) and predicted class (second axis).

    Args:
        processor: The processor of the trained task.
        outputs: The task's outputs on dev data.

    Returns:
        The counts, (classes, classes) int; None for a task without single labels, and for many classes.
    """
    if not isinstance(processor, SingleLabel) or not processor.labels or len(processor.known_labels) > _MAX_CLASSES:
        return None
    classes = len(processor.known_labels)  # the fallback is one of them
    labels = processor.encode_labels(*outputs[:3])
    predictions = processor.predicted(processor.table(outputs.raw_results))
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


def _plot_confusion(folder: RunFolder, labels: Sequence[str], counts: np.ndarray) -> str:
    size = 1.6 + 0.5 * len(labels)
    figure, axes = _new_figure(max(size, 3.6), max(size, 3.2))
    axes.imshow(counts, cmap="Blues")
    for (row, column), count in np.ndenumerate(counts):
        dark = count > counts.max() / 2
        axes.text(column, row, str(count), ha="center", va="center", color="white" if dark else "black", fontsize=8)
    axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
    axes.set_yticks(range(len(labels)), labels)
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
