"""The file of CoLA, whose columns have no names: source, label, the author's mark, sentence."""

from collections.abc import Sequence

COLA_TEXT, COLA_LABEL = 3, 1
_MARKS = set("*?#% ")


def is_cola(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether rows are those of CoLA: four cells, of which the second is 0 or 1 and the third is empty or a mark such as `*`.

    Args:
        rows: The first rows of a file without a header.
    """
    marked = [
        row[2] for row in rows if len(row) == 4 and row[1] in ("0", "1") and set(row[2]) <= _MARKS and row[3].strip()
    ]
    return bool(rows) and len(marked) == len(rows) and "" in marked
