"""Token ids of some rows as the three rectangular inputs of an encoder."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.text.encoded import Encoded


def pack(encoded: Encoded, length: int | None = None, pad_id: int = 0, multiple_of: int = 1) -> dict[str, np.ndarray]:
    """Pads rows at their end to one length.

    Args:
      encoded: the rows, from a tokenizer's `encode`, or an object with one list a row as `input_ids` and
        `token_type_ids`.
      length: tokens a row of the result; None takes the longest row, rounded up to `multiple_of`.
      pad_id: the id of the padding token.
      multiple_of: see `length`; a few distinct lengths mean a few compiled graphs instead of one for each batch.

    Returns:
      `input_ids`, `attention_mask` (1 for tokens, 0 for padding) and `token_type_ids`, int32 of shape (rows, length).

    Raises:
      KerasBertError: a row longer than `length`, or a `length` or `multiple_of` below 1.
    """
    for name, value in (("length", length), ("multiple_of", multiple_of)):
        if value is not None and value < 1:
            raise KerasBertError(f"expected {name} of at least 1, received {value}")
    counts = np.fromiter(map(len, encoded.input_ids), np.int64, len(encoded.input_ids))
    longest = int(counts.max(initial=0))
    if length is None:
        length = -(-longest // multiple_of) * multiple_of
    elif longest > length:
        raise KerasBertError(
            f"expected rows of at most {length} tokens, received row {int(counts.argmax())} with {longest}; "
            f"encode with max_length={length}"
        )
    filled = np.arange(length) < counts[:, None]
    return {
        "input_ids": _padded(encoded.input_ids, filled, pad_id),
        "attention_mask": filled.astype(np.int32),
        "token_type_ids": _types(encoded, filled),
    }


def _types(encoded, filled: np.ndarray) -> np.ndarray:
    if not isinstance(encoded, Encoded):
        return _padded(encoded.token_type_ids, filled, 0)
    # From the boundaries alone: no list of types has to be made for each row.
    if not encoded.template.second_type:
        return np.zeros(filled.shape, np.int32)
    boundaries = np.asarray(encoded.boundaries, np.int64)
    behind = np.arange(filled.shape[1]) >= boundaries[:, None]
    return (behind & filled) * np.int32(encoded.template.second_type)


def _padded(rows: Sequence[Sequence[int]], filled: np.ndarray, padding: int) -> np.ndarray:
    packed = np.full(filled.shape, padding, np.int32)
    packed[filled] = np.fromiter(chain.from_iterable(rows), np.int32)
    return packed
