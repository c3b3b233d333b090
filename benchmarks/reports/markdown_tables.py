"""Markdown tables, and the places of measured tables in a document: between `<!-- name -->` and `<!-- end -->`."""

import re
from collections.abc import Mapping, Sequence

_NONE = "-"


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Format a table.

    Args:
        columns: The headings, with their units.
        rows: A cell for each column; None for what was not measured.

    Returns:
        The lines.

    Raises:
        ValueError: When a row has another number of cells than there are columns.
    """
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"expected {len(columns)} cells, received {len(row)}: {row}; add or remove a column")
    return [_line(columns), "|" + "---|" * len(columns), *map(_line, rows)]


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(_NONE if cell is None else str(cell) for cell in cells) + " |"


def places(text: str) -> list[str]:
    """List the names of the tables that a document has places for."""
    return [name for name in re.findall(r"^<!-- ([\w-]+) -->$", text, re.MULTILINE) if name != "end"]


def fill(text: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Replace the tables of a document.

    Args:
        text: The document.
        tables: Lines of each table, by name.

    Raises:
        ValueError: When a table has no place in the document, or two.
    """
    for name, lines in tables.items():
        between = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = between.subn(lambda match, lines=lines: "\n".join([match[1].rstrip(), *lines, match[2]]), text)
        if count != 1:
            raise ValueError(f"expected one place <!-- {name} -->, received {count}; add it and <!-- end -->")
    return text


def number(value: float | None, digits: int = 2) -> str | None:
    """Format a number; None stays."""
    return None if value is None else f"{value:,.{digits}f}"


def percent(share: float | None, digits: int = 1) -> str | None:
    """Format a share in percent, without the sign; None stays."""
    return None if share is None else f"{100 * share:.{digits}f}"


def quartiles(spread: Mapping[str, float], digits: int = 2, scale: float = 1, prefix: str = "") -> str:
    """Format the quartiles of a spread.

    Args:
        spread: From `record.spread` or `record.ratio`.
        digits: Digits after the point.
        scale: A factor for another unit.
        prefix: Before the names of the values: `round_` for ratios.
    """
    low, high = (spread[f"{prefix}{name}"] * scale for name in ("q1", "q3"))
    return f"{low:,.{digits}f}\u2013{high:,.{digits}f}"


def with_deviation(facts: Mapping[str, float], digits: int = 3) -> str:
    """Format a mean with its standard deviation, where there is one."""
    deviation = facts.get("deviation")
    return f"{facts['mean']:.{digits}f}" + (f" \u00b1 {deviation:.{digits}f}" if deviation is not None else "")
