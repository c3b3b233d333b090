"""Tables as text: aligned columns where they fit a terminal, else a block of `column: cell` lines for each row.

Widths count terminal cells: two for CJK characters and most emoji, none for combining marks.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from kerasbert.console.escapes import escape_controls
from kerasbert.console.widths import cell_width, pad, wrap

_GAP = "  "
_NARROWEST = 24  # cells that a wrapped column keeps; below, rows are stacked
_CHARACTER = 2  # cells of a wide one
_NOTHING = ("", "-")
_SHORTEST_VALUE = 16  # cells behind the longest `column: ` of a stacked row; below, values begin a line of their own


@dataclass(frozen=True)
class Table:
    """A table of plain text. Control characters in cells, newlines too, are shown escaped.

    Attributes:
        columns: headings.
        rows: cells, as many a row as columns; anything but text is written with `str`.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __post_init__(self):
        object.__setattr__(self, "columns", tuple(escape_controls(str(name)) for name in self.columns))
        rows = tuple(tuple(escape_controls(str(cell)) for cell in row) for row in self.rows)
        object.__setattr__(self, "rows", rows)
        for row in rows:
            if len(row) != len(self.columns):
                raise ValueError(f"expected {len(self.columns)} cells in a row, received {len(row)}")

    def __str__(self) -> str:
        return self.render()

    def render(self, width: int | None = None) -> str:
        """Left-aligned columns under a ruled header; no trailing blanks.

        Args:
            width: of the terminal in cells. Where the table is wider, cells of prose are wrapped between words; where that is not enough,
                each row becomes a block of lines. None: as wide as it is.
        """
        natural = [max(map(cell_width, column)) for column in self._columns_with_heads()]
        widths = natural if width is None else self._fitted(natural, width)
        return self._stacked(width) if widths is None else self._aligned(widths)

    def _columns_with_heads(self) -> list[tuple[str, ...]]:
        return list(zip(self.columns, *self.rows, strict=True))

    def _fitted(self, natural: list[int], width: int) -> list[int] | None:
        """A width a column that keeps words whole; None where there is none."""
        room = width - len(_GAP) * (len(natural) - 1)
        if sum(natural) <= room:
            return natural
        least = list(map(_least, self._columns_with_heads()))
        if sum(least) > room:
            return None
        for level in range(room, 0, -1):  # the widest columns give way first
            widths = [max(low, min(high, level)) for low, high in zip(least, natural, strict=True)]
            if sum(widths) <= room:
                return widths
        return least

    def _aligned(self, widths: list[int]) -> str:
        ruler = _line(["-" * width for width in widths], widths)
        rows = [line for row in self.rows for line in _lines(row, widths)]
        return "\n".join([*_lines(self.columns, widths), ruler, *rows])

    def _stacked(self, width: int) -> str:
        """Cells without anything are left out."""
        return "\n\n".join(
            facts([(name, cell) for name, cell in zip(self.columns, row, strict=True) if cell not in _NOTHING], width)
            for row in self.rows
        )


def facts(pairs: Iterable[tuple[str, object]], width: int | None = None) -> str:
    """Lines of `name: value`, values under each other and wrapped between words."""
    pairs = [(escape_controls(str(name)), escape_controls(str(value))) for name, value in pairs]
    margin = max((cell_width(name) for name, _ in pairs), default=0) + 2
    if width is not None and width - margin < _SHORTEST_VALUE:
        margin = 2
        return "\n".join(
            f"{name}:\n" + "\n".join(" " * margin + line for line in wrap(value, width - margin))
            for name, value in pairs
        )
    lines = []
    for name, value in pairs:
        first, *rest = wrap(value, None if width is None else width - margin)
        lines.append((pad(f"{name}:", margin) + first).rstrip())
        lines += [" " * margin + line for line in rest]
    return "\n".join(lines)


@dataclass(frozen=True)
class Facts:
    """Names and values, one a line: `name: value`."""

    pairs: Sequence[tuple[str, object]]

    def __str__(self) -> str:
        return self.render()

    def render(self, width: int | None = None) -> str:
        """See `facts`."""
        return facts(self.pairs, width)


Block = str | Table | Facts


def render(blocks: Block | Iterable[Block], width: int | None = None) -> str:
    """Lines, tables and facts, one below the other; an empty line before and after tables.

    Args:
        blocks: text is wrapped between words, and keeps its own newlines; an empty text is an empty line.
        width: of the terminal in cells; None: nothing is wrapped, and tables are as wide as they are.
    """
    if isinstance(blocks, Block):
        blocks = [blocks]
    parts = []
    for block in blocks:
        if isinstance(block, str):
            text = escape_controls(block, keep_lines=True)
            parts += [line for each in text.split("\n") for line in wrap(each, width)]
            continue
        apart = [""] if isinstance(block, Table) else []
        parts += [*apart, block.render(width), *apart]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts).strip("\n"))


def _lines(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """A row, as many lines as its longest cell is wrapped to."""
    wrapped = [wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return [_line(part, widths) for part in zip_longest(*wrapped, fillvalue="")]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(pad(cell, width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _least(column: Sequence[str]) -> int:
    """The fewest cells for a heading and the cells below it; both may be wrapped between words."""
    head, *cells = column
    widest = max(map(cell_width, cells), default=0)
    return max(_longest_word([head]), min(widest, max(_NARROWEST, _longest_word(cells))), _CHARACTER)


def _longest_word(cells: Sequence[str]) -> int:
    return max(
        (cell_width(word) for cell in cells for word in cell.split() if cell_width(word) == len(word)), default=0
    )
