"""Heat maps: as tables of a page, and as images of a figure."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.plots.labels import label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERS = 18  # columns of a picture whose cells have their numbers


def heat_table(
    rows: Sequence[str], columns: Sequence[str], values: np.ndarray, low: float, high: float,
    shown: Callable[[float], str] = "{:.2f}".format,
) -> str:  # fmt: skip
    """Return a heat map as a table, whose cells follow the light or dark mode of the page.

    Args:
        rows: The names of the rows.
        columns: The names of the columns.
        values: The values, `(rows, columns)`; NaN leaves a cell empty.
        low: The value without colour.
        high: The value of the strongest colour.
        shown: Formats a value.
    """
    head = "".join(f"<th><span>{escape(name)}</span></th>" for name in columns)
    lines = []
    for name, line in zip(rows, np.asarray(values, float).tolist(), strict=True):
        cells = "".join(_cell(value, low, high, shown) for value in line)
        lines.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    return (
        f'<div class="scroll"><table class="heat"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(value: float, low: float, high: float, shown: Callable[[float], str]) -> str:
    if math.isnan(value):
        return '<td style="--share:0"></td>'
    share = min(max((value - low) / max(high - low, 1e-12), 0.0), 1.0)
    return f'<td style="--share:{share:.2f}">{escape(shown(value))}</td>'


def heat_image(
    axes: "Axes", rows: Sequence[str], columns: Sequence[str], values: np.ndarray, low: float, high: float,
    shown: Callable[[float], str] = "{:.2f}".format,
) -> None:  # fmt: skip
    """Draw a heat map, with its numbers where there are few columns.

    Args:
        axes: The axes.
        rows: See `heat_table`.
        columns: See `heat_table`.
        values: See `heat_table`.
        low: See `heat_table`.
        high: See `heat_table`.
        shown: See `heat_table`.
    """
    axes.imshow(values, cmap="Blues", vmin=low, vmax=high, aspect="auto")
    label_axes(axes, columns, rows, 8)
    if len(columns) > _MOST_NUMBERS:
        return
    for (row, column), value in np.ndenumerate(np.asarray(values, float)):
        if not math.isnan(value):
            dark = value - low > 0.6 * (high - low)
            color = "white" if dark else "black"
            axes.text(column, row, shown(value), ha="center", va="center", fontsize=7, color=color)
