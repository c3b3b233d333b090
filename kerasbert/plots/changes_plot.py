"""Which weights of an encoder differ from those of another one, such as before and after fine-tuning."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.arguments import shown
from kerasbert.console.output import note
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.export.reporting import markup
from kerasbert.export.reporting.charts import bar_chart
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.plots.heat_map import heat_image, heat_table
from kerasbert.plots.plot import Plot
from kerasbert.tasks.base import Task
from kerasbert.tasks.pretrained import load_encoder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LAYER = re.compile(r"layers\.(\d+)\.(.+)")
_TABLE = "embeddings.word.table"


@dataclass(frozen=True)
class Change:
    """How far some weights have moved.

    Attributes:
        distance: The Euclidean distance of the weights after from those before.
        norm: The Euclidean norm of those before.
        weights: Their number.

    Example:
        ```python
        plot = kb.plots.changes("small-en", "runs/mine")
        plot.parts["pooler"].relative
        ```
    """

    distance: float
    norm: float
    weights: int

    @property
    def relative(self) -> float:
        """The distance relative to the norm; NaN where all weights were 0."""
        return self.distance / self.norm if self.norm else float("nan")


@dataclass(frozen=True, eq=False)
class ChangesPlot(Plot):
    """The relative distances of an encoder's weights from those of another one.

    Attributes:
        names: The names of both models.
        parts: The change of each part, by its name: `embeddings.word`, `layers.0.attention.query`, `pooler`.
        shared: Whether several layers share each block.

    Example:
        ```python
        plot = kb.plots.changes("small-en", "runs/mine")
        plot.parts["layers.3.attention.query"].relative, plot.of("layers.3").relative
        plot.save("changes.png")
        ```
    """

    names: tuple[str, str]
    parts: Mapping[str, Change]
    shared: bool = False

    def of(self, prefix: str) -> Change:
        """Return the change of all parts below a name.

        Args:
            prefix: The name, such as `layers.0` or `embeddings`.

        Returns:
            The change of all of their weights.
        """
        return _together(each for name, each in self.parts.items() if name == prefix or name.startswith(f"{prefix}."))

    def rows(self) -> list[tuple[str, Change, str]]:
        """Return the name, the change and the part that has moved most, of the embeddings, of each layer, and of what is above them."""
        found = []
        for prefix in self._prefixes():
            inside = {
                name: each for name, each in self.parts.items() if name == prefix or name.startswith(f"{prefix}.")
            }
            most = max(inside, key=lambda name: np.nan_to_num(inside[name].relative))
            found.append((self._name(prefix), self.of(prefix), most.removeprefix(prefix).lstrip(".")))
        return found

    def title(self) -> str:
        return "Weights that moved"

    def figure(self) -> "Figure":
        from matplotlib.figure import Figure

        rows, columns, values = self._matrix()
        left, right = 1.2 + 0.62 * len(columns), 3.2
        height = 1.6 + 0.36 * max(len(rows), 4)
        figure = Figure(figsize=(left + right, height), layout="constrained")
        heat, bars = figure.subplots(1, 2, gridspec_kw={"width_ratios": [left, right]})
        heat_image(heat, rows, columns, 100 * values, 0.0, self._high(), "{:.1f}".format)
        heat.set_title("relative distance, %", fontsize=9)
        named = self.rows()
        bars.barh(range(len(named)), [100 * each.relative for _, each, _ in named], color="tab:blue")
        bars.set_yticks(range(len(named)), [name for name, _, _ in named], fontsize=8)
        bars.invert_yaxis()
        bars.set_xlim(left=0)
        bars.set_title("of all weights, %", fontsize=9)
        bars.grid(alpha=0.3, axis="x")
        return figure

    def to_dict(self) -> dict[str, Any]:
        def record(change: Change) -> dict[str, Any]:
            return {
                "relative": change.relative,
                "distance": change.distance,
                "norm": change.norm,
                "weights": change.weights,
            }

        layers = {prefix: record(self.of(prefix)) for prefix in self._prefixes()}
        parts = {name: record(each) for name, each in self.parts.items()}
        return {"before": self.names[0], "after": self.names[1], "layers": layers, "parts": parts}

    def body(self) -> str:
        rows, columns, values = self._matrix()
        table = heat_table(rows, columns, 100 * values, 0.0, self._high(), "{:.1f}".format)
        bars = bar_chart([(name, 100 * each.relative) for name, each, _ in self.rows()], lambda value: f"{value:.2f} %")
        others = [
            (name, f"{100 * each.relative:.2f} %", f"{each.weights:,}")
            for name, each in self.parts.items()
            if not name.startswith("layers.")
        ]
        facts = markup.facts([("before", self.names[0]), ("after", self.names[1])])
        note = (
            "<p class='note'>The distance of the weights after from those before, in per cent of their norm before.</p>"
        )
        return "\n".join(
            [
                markup.card("Models", facts, note),
                markup.card("Parts of the layers, %", table),
                markup.grid(
                    [
                        markup.card("All weights of a layer", bars),
                        markup.card("Other parts", markup.table(("part", "distance", "weights"), others)),
                    ]
                ),
            ]
        )

    def _prefixes(self) -> list[str]:
        return list(
            dict.fromkeys(
                match[0] if (match := re.match(r"layers\.\d+", name)) else name.partition(".")[0] for name in self.parts
            )
        )

    def _name(self, prefix: str) -> str:
        if not prefix.startswith("layers."):
            return prefix
        return f"{'block' if self.shared else 'layer'} {int(prefix.removeprefix('layers.')) + 1}"

    def _matrix(self) -> tuple[list[str], list[str], np.ndarray]:
        """Return the layers, their parts, and the relative changes `(layers, parts)`; NaN where a layer lacks a part."""
        found = {name: match for name in self.parts if (match := _LAYER.fullmatch(name))}
        layers = sorted({int(match[1]) for match in found.values()})
        columns = list(dict.fromkeys(match[2] for match in found.values()))
        values = np.full((len(layers), len(columns)), np.nan)
        for name, match in found.items():
            values[layers.index(int(match[1])), columns.index(match[2])] = self.parts[name].relative
        return [self._name(f"layers.{layer}") for layer in layers], columns, values

    def _high(self) -> float:
        """Return the largest value of the heat map, in per cent."""
        values = self._matrix()[2]
        return 100 * float(np.nanmax(values)) if np.isfinite(values).any() else 1.0


def changes(before: Any, after: Any) -> ChangesPlot:
    """Compare the weights of two encoders of the same sizes, such as a checkpoint and what was fine-tuned from it.

    Weights are compared as they are stored. Those that one of both lacks, such as adapters, are left out, which a note says.

    Args:
        before: A task, an encoder, a folder, an encoder of the zoo, or a hub name.
        after: Another one.

    Returns:
        The plot.

    Raises:
        KerasBertError: When the encoders have other sizes, or one is a `.tflite` file.

    Example:
        ```python
        plot = kb.plots.changes("small-en", "runs/mine")
        print(plot.rows()[-1])
        ```
    """
    (first, name), (second, other) = _opened(before), _opened(after)
    pairs = _pairs(first.variables_by_path(), second.variables_by_path())
    groups: dict[str, list[Change]] = {}
    for path, (old, new) in pairs.items():
        distance, norm = float(np.linalg.norm(new - old)), float(np.linalg.norm(old))
        groups.setdefault(path.rpartition(".")[0], []).append(Change(distance, norm, old.size))
    shared = len(first.stack()) > len(first.layers)
    return ChangesPlot((name, other), {part: _together(each) for part, each in groups.items()}, shared)


def _opened(model: Any) -> tuple[Encoder, str]:
    if isinstance(model, Task | Encoder):
        encoder = model.encoder if isinstance(model, Task) else model
        return encoder, type(model).__name__
    if not isinstance(model, str | os.PathLike):
        raise KerasBertError(
            f"expected a task, an encoder or a folder to compare, received {shown(model)}; load it first"
        )
    if is_tflite(model):
        raise KerasBertError(
            f"expected a folder, received the file {os.fspath(model)!r}, whose weights are those of a compiled graph; name its folder"
        )
    return load_encoder(model), os.fspath(model)


def _pairs(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the weights that both models have, as float64."""
    pairs = {}
    for path in before:
        if path not in after:
            continue
        old, new = (np.asarray(each[path].numpy(), np.float64) for each in (before, after))
        if path == _TABLE and old.shape != new.shape and old.shape[1] == new.shape[1]:
            rows = min(len(old), len(new))
            note(f"note: the vocabularies have {len(old):,} and {len(new):,} tokens; the first {rows:,} are compared")
            old, new = old[:rows], new[:rows]
        if old.shape != new.shape:
            raise KerasBertError(
                f"expected two models of the same sizes, received {path} of shape {old.shape} and {new.shape}; name a model and what was "
                "trained from it"
            )
        pairs[path] = old, new
    lacking = [path for path in (*before, *after) if path not in pairs]
    if not pairs:
        raise KerasBertError("expected two models of one architecture, received none of the same weights; name others")
    if lacking:
        note(f"note: {len(lacking)} tensors that one of both models lacks are left out, the first is {lacking[0]}")
    return pairs


def _together(each: Any) -> Change:
    found = list(each)
    squares = [float(np.sum([getattr(change, name) ** 2 for change in found])) for name in ("distance", "norm")]
    return Change(squares[0] ** 0.5, squares[1] ** 0.5, sum(change.weights for change in found))
