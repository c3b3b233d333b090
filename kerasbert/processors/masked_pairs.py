"""Rows of pairs of texts with masks in them: one row for each pair, as a model of next sentences reads it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.features import Features
from kerasbert.processors.texts import columns
from kerasbert.text import Tokenizer
from kerasbert.text.encoded import Encoded
from kerasbert.text.truncation import WHOLE


@dataclass(frozen=True)
class PairMasks:
    """The masks of a pair, and the words of its row.

    Attributes:
        index: Positions of the masks in the row, `(masks,)`.
        spans: `(start, end)` characters of each in its text, as the tokenizer tells them.
        parts: 0 for each mask in the first text, 1 for each in the second.
        words: The number of each token's word in the row, `(tokens,)`, -1 for special tokens.
    """

    index: np.ndarray
    spans: tuple[tuple[int, int], ...]
    parts: tuple[int, ...]
    words: np.ndarray


def pair_features(
    examples: Sequence[tuple[str, str]], tokenizer: Tokenizer, length: int
) -> tuple[Features, list[PairMasks]]:
    """Tokenize pairs. One that is too long is truncated: a window of it would be no pair.

    Args:
        examples: The pairs.
        tokenizer: The tokenizer.
        length: Tokens in the longest row.

    Returns:
        The features without alignment, and the masks of each row.

    Raises:
        KerasBertError: When a mask is in the part that is cut off.
    """
    encoded = tokenizer.encode(*columns(examples), max_length=length)
    masks = [_masks(encoded, row, tokenizer.mask_id) for row in range(len(encoded))]
    for row, (example, found) in enumerate(zip(examples, masks, strict=True)):
        if len(encoded.input_ids[row]) == length and any(tokenizer.mask_token in text for text in example):
            (whole,) = tokenizer.encode([example[0]], [example[1]], max_length=WHOLE).input_ids
            if (behind := whole.count(tokenizer.mask_id) - len(found.index)) > 0:
                raise KerasBertError(
                    f"row {row}: expected the masks of a pair within {length} tokens, received {behind} behind them; shorten the texts, or "
                    "load the model with a larger sequence_length"
                )
    return Features.from_encoded(encoded), masks


def _masks(encoded: Encoded, row: int, mask_id: int) -> PairMasks:
    index = np.flatnonzero(np.array(encoded.input_ids[row]) == mask_id)
    spans, parts = encoded.offsets[row], encoded.sequence_ids[row]
    return PairMasks(
        index,
        tuple(spans[number] for number in index),
        tuple(parts[number] or 0 for number in index),
        _word_numbers(encoded.word_ids[row], parts),
    )


def _word_numbers(words: Sequence[int | None], parts: Sequence[int | None]) -> np.ndarray:
    """Number the words of a row through both texts."""
    numbers = np.array([-1 if word is None else word for word in words])
    second = np.array([part == 1 for part in parts])
    return np.where(second & (numbers >= 0), numbers + 1 + numbers[~second].max(initial=-1), numbers)
