"""Pieces of a page: boxes, tables, the confusion matrix. All text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np


def card(title: str, *content: str) -> str:
    """A titled box; content is markup."""
    return f"<section><h2>{escape(title)}</h2>{''.join(content)}</section>"


def grid(cards: Iterable[str]) -> str:
    """Boxes beside each other, where there is room; those that are empty are left out."""
    cards = [card for card in cards if card]
    return f'<div class="grid">{"".join(cards)}</div>' if cards else ""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], status: int | None = None, notes: int = 0) -> str:
    """A table that narrow screens show as one card a row.

    status: the column of a check's status. notes: so many last cells of a row go below it, over its whole width, each if it is not empty.
    """
    head = "".join(f"<th>{escape(column)}</th>" for column in columns[: len(columns) - notes])
    body = "".join(f"<tbody>{_row(columns, [str(cell) for cell in row], status, notes)}</tbody>" for row in rows)
    return f'<div class="scroll"><table class="stack"><thead><tr>{head}</tr></thead>{body}</table></div>'


def _row(columns: Sequence[str], cells: Sequence[str], status: int | None, notes: int) -> str:
    shown, below = cells[: len(cells) - notes], [cell for cell in cells[len(cells) - notes :] if cell]
    texts = [escape(cell) for cell in shown]
    if status is not None:
        texts[status] = f'<span class="status {texts[status].replace(" ", "-")}">{texts[status]}</span>'
    line = "".join(
        f'<td data-label="{escape(column)}">{text}</td>' for column, text in zip(columns, texts, strict=False)
    )
    noted = "".join(f"<p>{escape(cell)}</p>" for cell in below)
    more = f'<tr class="below"><td colspan="{len(shown)}">{noted}</td></tr>' if below else ""
    return f"<tr{' class=' + chr(34) + 'noted' + chr(34) if below else ''}>{line}</tr>{more}"


def matrix(labels: Sequence[str], counts: np.ndarray) -> str:
    """A confusion matrix: a row a true class, a column a found one; off the diagonal the darker the more, in a colour of its own."""
    head = "".join(f"<th><span>{escape(label)}</span></th>" for label in labels)
    largest = max(int(counts.max(initial=0)), 1)
    lines = []
    for number, label in enumerate(labels):
        cells = "".join(
            f'<td class="{"right" if place == number else "wrong"}" style="--share:{(count / largest) ** 0.5:.2f}">{count or ""}</td>'
            for place, count in enumerate(counts[number].tolist())
        )
        lines.append(f"<tr><th>{escape(label)}</th>{cells}</tr>")
    return f'<div class="scroll"><table class="matrix"><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values."""
    return f"<dl>{''.join(f'<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>' for key, value in pairs)}</dl>"
