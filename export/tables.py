"""Plain-text tables and numbers as people read them."""

from collections.abc import Iterable, Sequence


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Left-aligned columns under a ruled header; no trailing blanks."""
    rows = [tuple(str(cell) for cell in row) for row in rows]
    widths = [max(len(line[i]) for line in [tuple(columns), *rows]) for i in range(len(columns))]
    lines = [tuple(columns), tuple("-" * width for width in widths), *rows]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def format_bytes(size: float) -> str:
    """Decimal units, as download pages use: 23.1 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def format_number(value: float | None, digits: int = 4) -> str:
    """Fixed digits, scientific where they would all be zero, `-` for nothing."""
    if value is None:
        return "-"
    if value != 0 and abs(value) < 10 ** -(digits - 1):
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


def format_seconds(seconds: float | None) -> str:
    """In the unit that reads best: 2.1 µs, 4.37 ms, 1.2 s; `-` for nothing."""
    if seconds is None:
        return "-"
    for factor, unit, below in ((1e6, "µs", 100), (1e3, "ms", 1000)):
        if seconds * factor < below:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"
