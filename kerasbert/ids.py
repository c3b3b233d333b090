"""The inputs of a model, and a check of its token ids."""

import numpy as np

from kerasbert.errors import KerasBertError

INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")


def check_ids(ids, vocab_size: int, model: str) -> None:
    """Check that every id (any shape, whole numbers) is in the vocabulary of a model.

    Raises:
        KerasBertError: when an id is below 0 or not below `vocab_size`.
    """
    ids = np.asarray(ids)
    if not ids.size or (ids.min() >= 0 and ids.max() < vocab_size):
        return
    place = np.argwhere((ids < 0) | (ids >= vocab_size))[0]
    raise KerasBertError(
        f"expected input_ids from 0 to {vocab_size - 1} (the vocabulary of {model}), received {ids[tuple(place)]} at "
        f"{tuple(int(i) for i in place)}. Tokenize with the vocabulary that belongs to this model"
    )
