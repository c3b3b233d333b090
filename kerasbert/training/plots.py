"""The pictures of a run: loss, dev metric, and for classes who was taken for whom."""

import numpy as np

from kerasbert.files.atomic import atomic_file
from kerasbert.processors.classification import SingleLabel
from kerasbert.training.run_folder import RunFolder

_MOST_CLASSES = 30


def write(folder: RunFolder, task, dev=None) -> list[str]:
    """Draws what metrics.jsonl holds into the run folder's `plots`; with `dev` the confusion matrix of a single-label task. File names."""
    records = folder.records()
    epochs = [record for record in records if "learning_rate" not in record]
    written = []
    if epochs:
        written.append(_lines(folder, "loss", {"loss": [(record["step"], record["loss"]) for record in records]}))
    scored = [record for record in epochs if "dev" in record]
    if scored:
        curves = {name: [(r["step"], r["dev"][name]) for r in scored] for name in scored[0]["dev"]}
        written.append(_lines(folder, "metric", curves))
    if dev is not None and isinstance(task.processor, SingleLabel) and len(task.labels) <= _MOST_CLASSES:
        written.append(_confusion(folder, task, dev))
    return written


def confusion(truth: np.ndarray, found: np.ndarray, classes: int) -> np.ndarray:
    """Rows of each true class (first axis) by the class that was chosen (second), (classes, classes) int."""
    return np.bincount(truth * classes + found, minlength=classes * classes).reshape(classes, classes)


def _lines(folder: RunFolder, name: str, curves: dict[str, list[tuple[int, float]]]) -> str:
    figure, axes = _figure(6.4, 3.6)
    for label, points in curves.items():
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=label)
    axes.set_xlabel("step")
    axes.set_ylabel(name)
    axes.grid(alpha=0.3)
    if len(curves) > 1:
        axes.legend(frameon=False)
    return _save(folder, figure, name)


def _confusion(folder: RunFolder, task, dev) -> str:
    found = np.array([task.labels.index(answer["label"]) for answer in task.predictions(dev)])
    counts = confusion(task.encode_labels(dev.y), found, len(task.labels))
    size = 1.6 + 0.5 * len(task.labels)
    figure, axes = _figure(max(size, 3.6), max(size, 3.2))
    axes.imshow(counts, cmap="Blues")
    for (row, column), count in np.ndenumerate(counts):
        dark = count > counts.max() / 2
        axes.text(column, row, str(count), ha="center", va="center", color="white" if dark else "black", fontsize=8)
    axes.set_xticks(range(len(task.labels)), task.labels, rotation=45, ha="right")
    axes.set_yticks(range(len(task.labels)), task.labels)
    axes.set_xlabel("chosen")
    axes.set_ylabel("true")
    return _save(folder, figure, "confusion")


def _figure(width: float, height: float):
    """Without pyplot, which keeps figures and asks for a display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _save(folder: RunFolder, figure, name: str) -> str:
    path = folder.plots / f"{name}.png"
    with atomic_file(path) as partial:
        figure.savefig(partial, format="png", dpi=120)
    return path.name
