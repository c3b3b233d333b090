"""Training rows for both sides of `benchmarks.training.training_throughput`."""

import numpy as np

from kerasbert.data.tables import read_table
from kerasbert.errors import KerasBertError


def read_rows(path: str, case: str, length: int, limit: int) -> tuple[list[str], np.ndarray]:
    """Read the first texts of a file and their labels, 0 or 1.

    Args:
        path: A table with labelled texts.
        case: `real` keeps the texts; `fixed` joins each with its successors until it fills `length` tokens.
        length: Tokens of a row.
        limit: The number of rows.

    Returns:
        Texts, and labels of shape (rows,).

    Raises:
        KerasBertError: When the file has no labels.
    """
    table = read_table(path, max_rows=limit)
    if table.labels is None:
        raise KerasBertError(f"expected a column of labels in {path}, received none; add a column named label")
    labels = np.array([int(label) for label in table.labels], np.int32)
    texts = table.texts
    if case == "real":
        return texts, labels
    joined, cyclic = [], texts + texts[:length]
    for start in range(len(texts)):
        # A word has at least one token, so `length` words fill a row.
        words: list[str] = []
        for text in cyclic[start : start + length]:
            words += text.split()
            if len(words) >= length:
                break
        joined.append(" ".join(words))
    return joined, labels
