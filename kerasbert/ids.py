"""The inputs of a model, and a range check of its token ids."""

import numpy as np
from numpy.typing import ArrayLike

from kerasbert.errors import KerasBertError

INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")


def check_ids(ids: ArrayLike, vocab_size: int, model: str) -> None:
    """Check that token ids are inside the vocabulary.

    Args:
        ids: integers of any shape.
        vocab_size: the first id that is too large.
        model: the model's name, for the error.

    Raises:
        KerasBertError: when an id is negative or not below `vocab_size`; the message names the first one.
    """
    ids = np.asarray(ids)
    if not ids.size or (ids.min() >= 0 and ids.max() < vocab_size):
        return
    index = tuple(int(i) for i in np.argwhere((ids < 0) | (ids >= vocab_size))[0])
    raise KerasBertError(
        f"expected input_ids from 0 to {vocab_size - 1} (the vocabulary of {model}), received {ids[index]} at {index}; "
        "tokenize with the vocabulary that belongs to this model"
    )
