"""The inputs of a model, and a check of its token ids."""

import numpy as np
import numpy.typing as npt

from kerasbert.errors import KerasBertError

INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")


def check_ids(ids: npt.ArrayLike, vocab_size: int, model: str) -> None:
    """Check that every id (any shape, whole numbers) is in the vocabulary of a model.

    Raises:
        KerasBertError: when an id is below 0 or not below `vocab_size`.
    """
    array = np.asarray(ids)
    if not array.size or (array.min() >= 0 and array.max() < vocab_size):
        return
    place = np.argwhere((array < 0) | (array >= vocab_size))[0]
    raise KerasBertError(
        f"expected input_ids from 0 to {vocab_size - 1} (the vocabulary of {model}), received {array[tuple(place)]} at "
        f"{tuple(int(i) for i in place)}. Tokenize with the vocabulary that belongs to this model"
    )
