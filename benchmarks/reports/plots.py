"""Plots of results, each for a light and for a dark page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.transforms import Bbox

from benchmarks.reports.accuracy_tables import TASKS, VARIANTS
from benchmarks.reports.results import load
from benchmarks.reports.zoo_tables import LENGTHS, VECTORS, encoder_names, newest, usual_machine
from kerasbert.zoo.results import read_results

_PRESETS = ("bert-tiny", "bert-mini", "minilm-l6", "mobilebert", "distilbert", "bert-base")
# Offset in points, then alignment across and along.
_PLACES = (
    ((10, 0), "left", "center"),
    ((0, 9), "center", "bottom"),
    ((0, -9), "center", "top"),
    ((-10, 0), "right", "center"),
)
_WIDTH = 6.6  # inches; the pages show it 700 pixels wide


class Colors(NamedTuple):
    """Colors of a plot.

    Attributes:
        background: The page.
        text: Text and axes.
        grid: Lines of the grid.
        accent: What the plot is about.
        points: Of the series.
    """

    background: str
    text: str
    grid: str
    accent: str
    points: tuple[str, ...]


THEMES = {
    "light": Colors("#ffffff", "#24292f", "#d8dee4", "#00796b", ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#7b52ab")),
    "dark": Colors("#1e2129", "#e2e4e9", "#3b404d", "#4db6ac", ("#56b4e9", "#ff9a57", "#2fd6a3", "#e9a3c9", "#f0e442", "#b79cf0")),
}  # fmt: skip


def accuracy_kept(axes: Any, colors: Colors) -> None:
    """Plot the share of the float32 metric by file: a point a task, a line for the mean."""
    summary = load("quantized_tasks")["summary"]
    variants = [
        name for name in VARIANTS if name in summary and name != "float32" and not name.endswith("_reference_kernels")
    ]
    shares = [summary[name]["shares"]["float32"] for name in variants]
    for color, task in zip(colors.points, TASKS, strict=False):
        offset = 0.09 * (list(TASKS).index(task) - 2.5)  # so that equal values do not hide one another
        points = [(100 * each["cases"][task], row + offset) for row, each in enumerate(shares) if task in each["cases"]]
        axes.plot(*zip(*points, strict=True), "o", color=color, markersize=6, alpha=0.9, label=TASKS[task])
    means = [100 * each["mean"] for each in shares]
    axes.plot(means, range(len(variants)), "|", color=colors.text, markersize=20, markeredgewidth=2.5, label="mean")
    axes.axvline(100, color=colors.text, linewidth=1, linestyle=":")
    axes.set_yticks(range(len(variants)), [VARIANTS[name].replace(" (control)", "\n(control)") for name in variants])
    axes.invert_yaxis()
    axes.set_xlabel("metric of the file, % of float32")
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.3, -0.16), ncol=4, frameon=False, labelcolor=colors.text, columnspacing=1
    )


def latency_by_length(axes: Any, colors: Colors) -> None:
    """Plot the latency of some presets by the number of tokens."""
    result = load("architectures")
    lengths = result["lengths"]
    for color, name in zip(colors.points, _PRESETS, strict=True):
        milliseconds = [1e3 * result["presets"][name]["running"][str(length)]["seconds"] for length in lengths]
        axes.plot(lengths, milliseconds, "o-", color=color, linewidth=2, markersize=5)
        axes.annotate(name, (lengths[-1], milliseconds[-1]), xytext=(7, -4), textcoords="offset points", color=color)
    axes.set(xscale="log", yscale="log", xlabel="tokens", ylabel="latency (ms), one thread")
    axes.set_xticks(lengths, list(map(str, lengths)))
    axes.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.minorticks_off()
    axes.set_xlim(right=lengths[-1] * 1.75)


def zoo(axes: Any, colors: Colors) -> None:
    """Plot the quality of the encoders' int8 sentence vectors over their latency."""
    results, labels = read_results(), []
    machine = usual_machine(results)
    for name in encoder_names(results):
        milliseconds = newest(results, model=name, file="int8", metric="latency ms", data=LENGTHS[0], machine=machine)
        spearman = newest(results, model=name, file="int8", **VECTORS)
        size = newest(results, model=name, file="int8", metric="size MB")
        if milliseconds is None or spearman is None:
            continue
        own = (Path(__file__).parents[2] / "zoo" / name).is_dir()
        axes.plot(
            milliseconds, spearman, "o" if own else "s", color=colors.accent if own else colors.text, markersize=9
        )
        labels.append((milliseconds, spearman, name if size is None else f"{name}, {size:.1f} MB"))
    axes.set(xlabel="latency (ms), 32 tokens, one thread", ylabel="STS-B test, Spearman, int8 file")
    axes.margins(x=0.14, y=0.14)
    _annotate(axes, labels, colors)


def pretraining_curves(axes: Any, colors: Colors) -> None:
    """Plot the training and the development loss of each run of pretraining, a panel a run."""
    figure = axes.figure
    axes.remove()
    panels = figure.subplots(2, 3, sharex=True)
    for panel, (name, run) in zip(panels.flat, load("pretraining_curves")["runs"].items(), strict=True):
        tokens = [each["tokens"] / 1e6 for each in run["evaluations"]]
        for key, style, label in (("loss", "--", "training"), ("val_loss", "-", "development")):
            losses = [each[key] for each in run["evaluations"]]
            panel.plot(tokens, losses, style, color=colors.points[0], linewidth=2, label=label)
        panel.set_title(name.replace(", ", ",\n"), fontsize=10.5)
        panel.set_axisbelow(True)
    for panel in panels[1]:
        panel.set_xlabel("million tokens")
    for panel in panels[:, 0]:
        panel.set_ylabel("loss")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower center", bbox_to_anchor=(0.5, -0.04), ncol=2, frameon=False, labelcolor=colors.text
    )
    figure.tight_layout()


def _annotate(axes: Any, labels: list[tuple[float, float, str]], colors: Colors) -> None:
    """Write a label at each point, at the first place around it where no other label or point is."""
    axes.figure.canvas.draw()
    frame = axes.get_window_extent()
    boxes = [
        Bbox.from_bounds(x - 9, y - 9, 18, 18) for x, y in (axes.transData.transform(label[:2]) for label in labels)
    ]
    for x, y, text in labels:
        for offset, across, along in _PLACES:
            note = axes.annotate(
                text, (x, y), xytext=offset, textcoords="offset points", ha=across, va=along, color=colors.text
            )
            box = note.get_window_extent()
            fits = frame.x0 <= box.x0 and box.x1 <= frame.x1
            if (fits and not any(box.overlaps(other) for other in boxes)) or (offset, across, along) == _PLACES[-1]:
                boxes.append(box)
                break
            note.remove()


PLOTS: dict[str, tuple[Callable[[Any, Colors], None], float]] = {
    "accuracy-kept": (accuracy_kept, 4.6),
    "latency-by-length": (latency_by_length, 4.2),
    "zoo-latency-quality": (zoo, 4.2),
    "pretraining-curves": (pretraining_curves, 4.6),
}


def write(folder: Path) -> None:
    """Draw every plot for every theme.

    Args:
        folder: Of the images `NAME-THEME.png`.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for name, (draw, height) in PLOTS.items():
        for theme, colors in THEMES.items():
            with plt.rc_context(_style(colors)):
                figure, axes = plt.subplots(figsize=(_WIDTH, height))
                axes.set_axisbelow(True)
                draw(axes, colors)
                path = folder / f"{name}-{theme}.png"
                figure.savefig(path, dpi=200, bbox_inches="tight", metadata={"Software": None})
                plt.close(figure)


def _style(colors: Colors) -> dict[str, Any]:
    parts = ("axes.labelcolor", "xtick.color", "ytick.color", "text.color")
    return {
        **dict.fromkeys(parts, colors.text),
        **dict.fromkeys(("figure.facecolor", "axes.facecolor"), colors.background),
        **dict.fromkeys(("axes.edgecolor", "grid.color"), colors.grid),
        **dict.fromkeys(("axes.spines.top", "axes.spines.right", "axes.spines.left"), False),
        **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 0),
        "font.size": 10.5,
        "font.family": "DejaVu Sans",
        "axes.grid": True,
        "grid.linewidth": 0.8,
    }
