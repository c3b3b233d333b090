"""Parts of a page: boxes, tables, the confusion matrix. All text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np


def card(title: str, *content: str) -> str:
    """Return a titled box. `content` is markup."""
    return f"<section><h2>{escape(title)}</h2>{''.join(content)}</section>"


def grid(cards: Iterable[str]) -> str:
    """Return boxes side by side, where there is room. Empty ones are left out."""
    cards = [card for card in cards if card]
    return f'<div class="grid">{"".join(cards)}</div>' if cards else ""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], status: int | None = None, notes: int = 0) -> str:
    """Return a table that narrow screens show as one box a row.

    Args:
        columns: The headings.
        rows: The cells of each row.
        status: The index of a column with a check's status, which is coloured.
        notes: The number of last cells in each row that are shown below it, over its whole width, unless they are empty.
    """
    head = "".join(f"<th>{escape(column)}</th>" for column in columns[: len(columns) - notes])
    body = "".join(f"<tbody>{_row(columns, [str(cell) for cell in row], status, notes)}</tbody>" for row in rows)
    return f'<div class="scroll"><table class="stack"><thead><tr>{head}</tr></thead>{body}</table></div>'


def _row(columns: Sequence[str], cells: Sequence[str], status: int | None, notes: int) -> str:
    visible, below = cells[: len(cells) - notes], [cell for cell in cells[len(cells) - notes :] if cell]
    texts = [escape(cell) for cell in visible]
    if status is not None:
        texts[status] = f'<span class="status {texts[status].replace(" ", "-")}">{texts[status]}</span>'
    line = "".join(
        f'<td data-label="{escape(column)}">{text}</td>' for column, text in zip(columns, texts, strict=False)
    )
    if not below:
        return f"<tr>{line}</tr>"
    paragraphs = "".join(f"<p>{escape(cell)}</p>" for cell in below)
    return f'<tr class="noted">{line}</tr><tr class="below"><td colspan="{len(visible)}">{paragraphs}</td></tr>'


def matrix(labels: Sequence[str], counts: np.ndarray) -> str:
    """Return a confusion matrix with a row for each true class and a column for each predicted one.

    Cells are darker for larger counts, and have another colour off the diagonal.

    Args:
        labels: Names of the classes.
        counts: The counts, `(classes, classes)`.
    """
    head = "".join(f"<th><span>{escape(label)}</span></th>" for label in labels)
    largest = max(int(counts.max(initial=0)), 1)
    lines = []
    for number, label in enumerate(labels):
        cells = "".join(
            f'<td class="{"right" if column == number else "wrong"}" style="--share:{(count / largest) ** 0.5:.2f}">{count or ""}</td>'
            for column, count in enumerate(counts[number].tolist())
        )
        lines.append(f"<tr><th>{escape(label)}</th>{cells}</tr>")
    return f'<div class="scroll"><table class="matrix"><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of names and values."""
    return f"<dl>{''.join(f'<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>' for key, value in pairs)}</dl>"
