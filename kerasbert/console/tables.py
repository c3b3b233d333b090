"""Text tables: aligned columns where they fit the terminal, else a block of `column: cell` lines for each row.

Widths are in terminal cells: two for CJK characters and most emoji, none for combining marks.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import cast

from kerasbert.console.escapes import escape_controls
from kerasbert.console.widths import cell_width, pad, wrap

_GAP = "  "
_MIN_WRAPPED_WIDTH = 24  # of a wrapped column; with less room, rows are stacked
_WIDE_CHARACTER = 2  # cells
_EMPTY = ("", "-")
_MIN_VALUE_WIDTH = 16  # of the values in a stacked row; with less room, values start on a line of their own


@dataclass(frozen=True)
class Table:
    """A table of plain text. Control characters in cells, newlines included, are escaped.

    Attributes:
        columns: headings.
        rows: one cell for each column; other values than text are formatted with `str`.
        spare: headings of columns that a narrow terminal does without, the first ones first. The others are then neither wrapped nor
            stacked, as far as that suffices.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    spare: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(escape_controls(str(name)) for name in self.columns))
        rows = tuple(tuple(escape_controls(str(cell)) for cell in row) for row in self.rows)
        object.__setattr__(self, "rows", rows)
        for row in rows:
            if len(row) != len(self.columns):
                raise ValueError(f"expected {len(self.columns)} cells in a row, received {len(row)}")

    def __str__(self) -> str:
        return self.render()

    def render(self, width: int | None = None) -> str:
        """Format the table with left-aligned columns under a ruled header, without trailing blanks.

        Args:
            width: of the terminal in cells, or None for no limit. In a table that is wider, cells are wrapped between words. Where that
                is not enough, each row becomes a block of lines. Columns to spare are left out before.
        """
        natural = [max(map(cell_width, column)) for column in self._columns_with_headings()]
        if width is None:
            return self._render_aligned(natural)
        if sum(natural) > width - len(_GAP) * (len(natural) - 1) and (spared := self._without_spare()):
            return spared.render(width)
        widths = self._fit(natural, width)
        return self._render_stacked(width) if widths is None else self._render_aligned(widths)

    def _without_spare(self) -> "Table | None":
        """The table without its least important column; None if it has none to spare."""
        name = next((name for name in self.spare if name in self.columns), None)
        if name is None:
            return None
        keep = [place for place, each in enumerate(self.columns) if each != name]
        rows = [[row[place] for place in keep] for row in self.rows]
        return Table([self.columns[place] for place in keep], rows, self.spare)

    def _columns_with_headings(self) -> list[tuple[str, ...]]:
        return list(zip(self.columns, *self._cells(), strict=True))

    def _cells(self) -> tuple[tuple[str, ...], ...]:
        """The rows, all of them text since `__post_init__`."""
        return cast(tuple[tuple[str, ...], ...], self.rows)

    def _fit(self, natural: list[int], width: int) -> list[int] | None:
        """Column widths that keep words whole, or None where the table does not fit."""
        room = width - len(_GAP) * (len(natural) - 1)
        if sum(natural) <= room:
            return natural
        minimum = list(map(_min_width, self._columns_with_headings()))
        if sum(minimum) > room:
            return None
        for limit in range(room, 0, -1):  # the widest columns shrink first
            widths = [max(low, min(high, limit)) for low, high in zip(minimum, natural, strict=True)]
            if sum(widths) <= room:
                return widths
        return minimum

    def _render_aligned(self, widths: list[int]) -> str:
        ruler = _line(["-" * width for width in widths], widths)
        rows = [line for row in self._cells() for line in _lines(row, widths)]
        return "\n".join([*_lines(self.columns, widths), ruler, *rows])

    def _render_stacked(self, width: int) -> str:
        """Empty cells are left out."""
        return "\n\n".join(
            facts([(name, cell) for name, cell in zip(self.columns, row, strict=True) if cell not in _EMPTY], width)
            for row in self.rows
        )


def facts(pairs: Iterable[tuple[str, object]], width: int | None = None) -> str:
    """Format lines of `name: value` with aligned values, wrapped between words.

    Args:
        pairs: names and values; control characters are escaped.
        width: of the terminal in cells, or None for no limit.
    """
    escaped = [(escape_controls(str(name)), escape_controls(str(value))) for name, value in pairs]
    margin = max((cell_width(name) for name, _ in escaped), default=0) + 2
    if width is not None and width - margin < _MIN_VALUE_WIDTH:
        margin = 2
        return "\n".join(
            f"{name}:\n" + "\n".join(" " * margin + line for line in wrap(value, width - margin))
            for name, value in escaped
        )
    lines = []
    for name, value in escaped:
        first, *rest = wrap(value, None if width is None else width - margin)
        lines.append((pad(f"{name}:", margin) + first).rstrip())
        lines += [" " * margin + line for line in rest]
    return "\n".join(lines)


@dataclass(frozen=True)
class Facts:
    """Names and values, one pair a line: `name: value`."""

    pairs: Sequence[tuple[str, object]]

    def __str__(self) -> str:
        return self.render()

    def render(self, width: int | None = None) -> str:
        """Format the pairs; see `facts`."""
        return facts(self.pairs, width)


Block = str | Table | Facts


def render(blocks: Block | Iterable[Block], width: int | None = None) -> str:
    """Format blocks one below the other, with an empty line before and after tables.

    Args:
        blocks: texts, tables and facts. Text is wrapped between words and keeps its newlines; an empty text is an empty line.
        width: of the terminal in cells, or None for no limit.
    """
    if isinstance(blocks, Block):
        blocks = [blocks]
    lines = []
    for block in blocks:
        if isinstance(block, str):
            text = escape_controls(block, keep_lines=True)
            lines += [part for line in text.split("\n") for part in wrap(line, width)]
            continue
        separator = [""] if isinstance(block, Table) else []
        lines += [*separator, block.render(width), *separator]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n"))


def _lines(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The lines of a row whose cells are wrapped."""
    wrapped = [wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return [_line(part, widths) for part in zip_longest(*wrapped, fillvalue="")]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(pad(cell, width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _min_width(column: Sequence[str]) -> int:
    """The minimum width of a column, a heading and its cells, that are wrapped between words."""
    heading, *cells = column
    widest = max(map(cell_width, cells), default=0)
    return max(_longest_word([heading]), min(widest, max(_MIN_WRAPPED_WIDTH, _longest_word(cells))), _WIDE_CHARACTER)


def _longest_word(cells: Sequence[str]) -> int:
    return max(
        (cell_width(word) for cell in cells for word in cell.split() if cell_width(word) == len(word)), default=0
    )
