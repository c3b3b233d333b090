"""Padding of token ids to the three rectangular inputs of an encoder."""

from collections.abc import Sequence
from itertools import chain
from typing import Protocol

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.text.encoded import Encoded


class TokenIds(Protocol):
    """The token ids and types of some sequences: an `Encoded`, or any object with these attributes."""

    @property
    def input_ids(self) -> Sequence[Sequence[int]]:
        """The token ids of each sequence."""
        ...

    @property
    def token_type_ids(self) -> Sequence[Sequence[int]]:
        """The token types of each sequence."""
        ...


def pack(encoded: TokenIds, length: int | None = None, pad_id: int = 0, multiple_of: int = 1) -> dict[str, np.ndarray]:
    """Pad sequences at their end to one length.

    Args:
        encoded: The result of a tokenizer's `encode`, or another object with `input_ids` and `token_type_ids`.
        length: The padded length. None takes the longest sequence, rounded up to `multiple_of`.
        pad_id: Id of the padding token.
        multiple_of: See `length`. With few distinct lengths, few graphs are compiled.

    Returns:
        `input_ids`, `attention_mask` (1 for tokens, 0 for padding) and `token_type_ids`, int32 of shape (batch, length).

    Raises:
        KerasBertError: When a sequence is longer than `length`, or `length` or `multiple_of` is below 1.

    Example:
        ```python
        encoded = task.tokenizer.encode(["wake me at six", "stop"], max_length=16)
        inputs = kb.text.pack(encoded, length=16)
        inputs["input_ids"].shape  # (2, 16)
        ```
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
            f"expected sequences of at most {length} tokens, received sequence {int(counts.argmax())} with {longest}; "
            f"encode with max_length={length}"
        )
    mask = np.arange(length) < counts[:, None]
    return {
        "input_ids": _pad(encoded.input_ids, mask, pad_id),
        "attention_mask": mask.astype(np.int32),
        "token_type_ids": _token_types(encoded, mask),
    }


def _token_types(encoded: TokenIds, mask: np.ndarray) -> np.ndarray:
    if not isinstance(encoded, Encoded):
        return _pad(encoded.token_type_ids, mask, 0)
    # The boundaries suffice, so no list of types is built for each sequence.
    if not encoded.template.second_type:
        return np.zeros(mask.shape, np.int32)
    boundaries = np.asarray(encoded.boundaries, np.int64)
    after_first = np.arange(mask.shape[1]) >= boundaries[:, None]
    return (after_first & mask) * np.int32(encoded.template.second_type)


def _pad(sequences: Sequence[Sequence[int]], mask: np.ndarray, padding: int) -> np.ndarray:
    packed = np.full(mask.shape, padding, np.int32)
    packed[mask] = np.fromiter(chain.from_iterable(sequences), np.int32)
    return packed
