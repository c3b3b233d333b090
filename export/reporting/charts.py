"""Charts as inline SVG, coloured by the page's own CSS variables so that they follow light and dark mode. All text is
escaped."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np

SERIES = ("var(--blue)", "var(--orange)", "var(--green)", "var(--violet)")
_WIDTH, _HEIGHT = 440, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 14, 44
_BAR, _GAP, _LINE = 26, 12, 18
_BESIDE, _ACROSS = 22, 60  # characters of a label beside its bar, and above it; about 7 units each


def bar_chart(
    bars: Sequence[tuple[str, float]],
    show: Callable[[float], str],
    colors: Sequence[str] | None = None,
    floor: float = 0.0,
) -> str:
    """Horizontal bars with their value at the end, those of one label next to each other; long labels stand above their bars, whole.

    floor: where the axis starts; it is written below when it is not 0.
    """
    values = [value for _, value in bars]
    span = max([value - floor for value in values if np.isfinite(value)], default=0) or 1.0
    beside = max((len(label) for label, _ in bars), default=1) <= _BESIDE
    left = 14 + 7 * max((len(label) for label, _ in bars), default=1) if beside else 0
    room = _WIDTH - left - 84
    parts, y, before = [], 4, None
    for number, (label, value) in enumerate(bars):
        width = max(0.0, min(1.0, (value - floor) / span)) * room if np.isfinite(value) else 0
        color = (colors or SERIES[:1])[number % len(colors or SERIES[:1])]
        if label == before:
            y -= _GAP - 3  # bars of one label stand together
        elif beside:
            parts.append(f'<text class="label" x="{left - 10}" y="{y + 17}" text-anchor="end">{escape(label)}</text>')
        else:
            for line in _wrapped(label):
                parts.append(f'<text class="label" x="0" y="{y + 12}">{escape(line)}</text>')
                y += _LINE
        parts.append(
            f'<rect x="{left}" y="{y}" width="{max(width, 1):.1f}" height="{_BAR}" rx="3" fill="{color}"/>'
            f'<text class="value" x="{left + max(width, 1) + 8:.1f}" y="{y + 17}">{escape(show(value))}</text>'
        )
        y += _BAR + _GAP
        before = label
    if floor:
        parts.append(f'<text class="tick" x="{left}" y="{y + 8}">axis starts at {escape(show(floor))}</text>')
        y += 18
    return _svg(parts, y)


def histogram(values: np.ndarray, x_label: str, bins: int = 30) -> str:
    """How often which value occurs, counts on a square-root scale so that single outliers stay visible."""
    values = np.asarray(values, np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        return ""
    counts, edges = np.histogram(values, bins=bins, range=(0, max(float(values.max()), 1e-12)))
    frame = _Frame((0.0, float(edges[-1])), (0.0, float(np.sqrt(counts.max()))))
    parts = frame.axes(x_label, "count (square-root scale)", y_show=lambda v: f"{v * v:.0f}")
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        if count:
            x, top = frame.x(low), frame.y(np.sqrt(count))
            width = max(frame.x(high) - x - 1, 1)
            parts.append(
                f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" '
                f'height="{frame.y(0) - top:.1f}" fill="{SERIES[0]}"/>'
            )
    return _svg(parts, _HEIGHT)


def scatter(pairs: Mapping[str, tuple[np.ndarray, np.ndarray]], x_label: str, y_label: str, most: int = 600) -> str:
    """Points against the diagonal: on it, both sides say the same."""
    finite = {name: _finite_pairs(*sides, most) for name, sides in pairs.items()}
    everything = np.concatenate([np.concatenate(sides) for sides in finite.values()]) if finite else np.zeros(0)
    if not everything.size:
        return ""
    low, high = float(everything.min()), float(everything.max())
    margin = 0.03 * (high - low) or 0.5
    frame = _Frame((low - margin, high + margin), (low - margin, high + margin))
    parts = frame.axes(x_label, y_label)
    start, end = low - margin, high + margin
    parts.append(
        f'<line class="diagonal" x1="{frame.x(start):.1f}" y1="{frame.y(start):.1f}" '
        f'x2="{frame.x(end):.1f}" y2="{frame.y(end):.1f}"/>'
    )
    for number, (x, y) in enumerate(finite.values()):
        color = SERIES[number % len(SERIES)]
        parts += [
            f'<circle cx="{frame.x(a):.1f}" cy="{frame.y(b):.1f}" r="2.6" fill="{color}" opacity=".55"/>'
            for a, b in zip(x, y, strict=True)
        ]
    return _svg(parts, _HEIGHT) + (legend(list(finite)) if len(finite) > 1 else "")


def line_chart(series: Mapping[str, Sequence[tuple[float, float]]], x_label: str, y_label: str) -> str:
    """One line a series, such as a training history: `{"loss": [(epoch, value), ...]}`."""
    points = {name: [(x, y) for x, y in line if np.isfinite(x) and np.isfinite(y)] for name, line in series.items()}
    points = {name: line for name, line in points.items() if line}
    if not points:
        return ""
    xs, ys = zip(*(point for line in points.values() for point in line), strict=True)
    margin = 0.06 * (max(ys) - min(ys)) or 0.5
    frame = _Frame((min(xs), max(xs)), (min(ys) - margin, max(ys) + margin))
    parts = frame.axes(x_label, y_label, whole=all(x == round(x) for x in xs))
    for number, line in enumerate(points.values()):
        color = SERIES[number % len(SERIES)]
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        if len(line) <= 40:
            parts += [f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3" fill="{color}"/>' for x, y in line]
    return _svg(parts, _HEIGHT) + legend(list(points))


class _Frame:
    """Maps data to picture coordinates and draws axes with round ticks."""

    def __init__(self, x_range: tuple[float, float], y_range: tuple[float, float]):
        self.x_range, self.y_range = (_widened(*given) for given in (x_range, y_range))

    def x(self, value: float) -> float:
        low, high = self.x_range
        return _LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    def axes(
        self, x_label: str, y_label: str, y_show: Callable[[float], str] | None = None, whole: bool = False
    ) -> list[str]:
        parts = []
        for value in _ticks(*self.y_range):
            y, text = self.y(value), (y_show or _tick)(value)
            parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>')
        bottom = _HEIGHT - _BOTTOM
        for value in _ticks(*self.x_range):
            if whole and value != round(value):
                continue
            parts.append(
                f'<text class="tick" x="{self.x(value):.1f}" y="{bottom + 17}" '
                f'text-anchor="middle">{escape(_tick(value))}</text>'
            )
        middle = (_TOP + bottom) / 2
        parts.append(
            f'<text class="axis" x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 6}" '
            f'text-anchor="middle">{escape(x_label)}</text>'
        )
        parts.append(
            f'<text class="axis" transform="translate(12 {middle}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_label)}</text>'
        )
        return parts


def _svg(parts: Sequence[str], height: float) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img">{"".join(parts)}</svg>'


def legend(names: Sequence[str]) -> str:
    """Which colour is whose, in the order of `SERIES`."""
    keys = (
        f'<span><i style="background:{SERIES[number % len(SERIES)]}"></i>{escape(name)}</span>'
        for number, name in enumerate(names)
    )
    return f'<p class="legend">{"".join(keys)}</p>'


def _ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers (1, 2 or 5 times a power of ten apart) inside a range."""
    step = 10.0 ** np.floor(np.log10((high - low) / wanted))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= wanted)
    return [number * step for number in range(int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9)) + 1)]


def _tick(value: float) -> str:
    return "0" if abs(value) < 1e-15 else f"{value:.3g}"


def _widened(low: float, high: float) -> tuple[float, float]:
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _finite_pairs(x: np.ndarray, y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.ravel(x).astype(np.float64), np.ravel(y).astype(np.float64)
    keep = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(keep) > most:
        keep = keep[np.linspace(0, len(keep) - 1, most).round().astype(int)]
    return x[keep], y[keep]


def _wrapped(text: str) -> list[str]:
    """Lines that fit above a bar, broken at blanks and, where there is none, anywhere."""
    return textwrap.wrap(text, _ACROSS) or [""]
