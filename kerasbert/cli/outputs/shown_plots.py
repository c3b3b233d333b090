"""The numbers behind a plot of `kerasbert show`, as tables for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.console.tables import Block, Facts, Table

if TYPE_CHECKING:
    from kerasbert.plots.attention_plot import AttentionPlot
    from kerasbert.plots.changes_plot import ChangesPlot
    from kerasbert.plots.landscape_plot import LandscapePlot
    from kerasbert.plots.layers_plot import LayersPlot
    from kerasbert.plots.words_plot import WordsPlot

_MOST_ATTENDED = 3
_MOST_COLUMNS = 12  # of a table of similarities


def attention_blocks(plot: "AttentionPlot") -> Sequence[Block]:
    """Return the tokens to which each token attends most, over the heads of the last layer that is shown.

    Args:
        plot: The plot.
    """
    mean = plot.weights[-1].mean(axis=0)
    rows = []
    for token, weights in zip(plot.tokens, mean, strict=True):
        best = np.argsort(-weights, kind="stable")[:_MOST_ATTENDED]
        rows.append((token, "  ".join(f"{plot.tokens[place]} {weights[place]:.2f}" for place in best)))
    heads = plot.heads[-1]
    named = f"head {heads[0]}" if len(heads) == 1 else f"the mean of {len(heads)} heads"
    return [f"attention in layer {plot.layers[-1]}, {named}:", Table(("token", "attends most to"), rows)]


def word_blocks(plot: "WordsPlot") -> Sequence[Block]:
    """Return the similarities in the layer of the picture.

    Args:
        plot: The plot.
    """
    names, values = plot.names(), plot.similarities[plot.layer]
    if len(names) > _MOST_COLUMNS:
        upper = values[np.triu_indices(len(names), 1)]
        return [
            Facts(
                [
                    ("occurrences", len(names)),
                    ("cosine similarity", f"{upper.min():.2f} to {upper.max():.2f}, mean {upper.mean():.2f}"),
                ]
            )
        ]
    columns = (f"cosine similarity, layer {plot.layer}", *plot.numbers())
    rows = [(name, *(f"{value:.2f}" for value in line)) for name, line in zip(names, values, strict=True)]
    return [Table(columns, rows)]


def change_blocks(plot: "ChangesPlot") -> Sequence[Block]:
    """Return the change of the embeddings, of each layer, and of what is above them.

    Args:
        plot: The plot.
    """
    rows = [
        (name, f"{100 * change.relative:.2f}%", f"{change.weights:,}", most or "-")
        for name, change, most in plot.rows()
    ]
    return [
        Table(("part", "distance", "weights", "moved most"), rows),
        "distance: of the weights after from those before, relative to their norm before.",
    ]


def layer_blocks(plot: "LayersPlot") -> Sequence[Block]:
    """Return the score of each layer's probes, and the weights of the layers where the encoder has some.

    Args:
        plot: The plot.
    """
    means, spread = plot.scores.mean(axis=0), plot.spread()
    columns = ("layer", plot.metric, "deviation", *(() if plot.mix is None else ("weight",)))
    rows = [
        (
            layer or "0 (embeddings)",
            f"{means[layer]:.4f}",
            f"{spread[layer]:.4f}",
            *(() if plot.mix is None else (f"{plot.mix[layer]:.3f}",)),
        )
        for layer in range(len(means))
    ]
    head = [] if plot.head is None else [f"the model's own head: {plot.head:.4f}"]
    return [f"linear probes, {len(plot.scores)} seeds:", Table(columns, rows), *head]


def landscape_blocks(plot: "LandscapePlot") -> Sequence[Block]:
    """Return the loss at both ends of each line, the lowest on it, and the greatest between its ends.

    Args:
        plot: The plot.
    """
    rows = []
    for name, losses in plot.lines.items():
        ends = [float(np.interp(step, plot.steps, losses)) for step in (0.0, 1.0)]
        between = losses[(plot.steps >= 0) & (plot.steps <= 1)]
        lowest = int(np.nanargmin(losses))
        highest, place = np.nanmax([*ends, *between]), f"{losses[lowest]:.4f} at {plot.steps[lowest]:.2f}"
        rows.append((name, *(f"{loss:.4f}" for loss in (*ends, highest)), place))
    columns = ("line", "loss at 0", "loss at 1", "highest between", "lowest")
    plane = [f"plane: loss from {np.nanmin(plot.plane):.4f} to {np.nanmax(plot.plane):.4f}"] if plot.plane.size else []
    return [Table(columns, rows), *plane]
