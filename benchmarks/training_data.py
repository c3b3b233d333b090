"""The rows that both sides of training_throughput.py train on."""

import numpy as np

from kerasbert.data.tables import read_table


def read_rows(path: str, case: str, length: int, limit: int) -> tuple[list[str], np.ndarray]:
    """The first `limit` texts and their labels, 0 or 1.

    case: `real`, as they are in the file; `fixed`, each joined with those after it until it fills `length` tokens.
    """
    table = read_table(path, max_rows=limit)
    labels = np.array([int(label) for label in table.labels], np.int32)
    texts = table.texts
    if case == "real":
        return texts, labels
    joined, cycle = [], texts + texts[:length]
    for start in range(len(texts)):
        # A word is at least a token, so `length` words are enough.
        words: list[str] = []
        for text in cycle[start : start + length]:
            words += text.split()
            if len(words) >= length:
                break
        joined.append(" ".join(words))
    return joined, labels
