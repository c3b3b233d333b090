"""Examples that are a text or a pair of texts, in all accepted forms."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kerasbert.arguments import is_sized
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.processors.features import Features
from kerasbert.text import Tokenizer
from kerasbert.text.strings import as_strings


def text_examples(x: Any) -> list:
    """Return texts, or 2-tuples of texts.

    Args:
        x: A list or array of strings, a pair `(texts, pairs)` of such, or a list of 2-tuples.

    Raises:
        KerasBertError: When it is none of these.
    """
    texts, pairs = split_pairs(x)
    if pairs is None:
        return as_strings(texts)
    if len(texts) != len(pairs):
        raise KerasBertError(
            f"expected one pair for each text, received {len(texts)} texts, {len(pairs)} pairs; pass as many of each"
        )
    return list(zip(as_strings(texts), as_strings(pairs, "pairs"), strict=True))


def check_form(examples: Sequence, paired: bool | None) -> None:
    """Check that examples are pairs of texts, or single texts, as the training data was.

    Args:
        examples: The result of `text_examples`.
        paired: Whether the training data was pairs; None if that is not known.

    Raises:
        KerasBertError: When they are of the other form.
    """
    if paired is None or not examples or isinstance(examples[0], tuple) == paired:
        return
    if paired:
        raise KerasBertError(
            f"row 0: expected a pair of texts, as in the model's training data, received one text: {examples[0][:40]!r}; pass the second "
            "text too"
        )
    raise KerasBertError(
        f"row 0: expected one text, as in the model's training data, received a pair: {examples[0][0][:40]!r} with "
        f"{examples[0][1][:40]!r}; leave the second text out"
    )


def is_paired(x: Any) -> bool | None:
    """Return whether data that `text_examples` accepts are pairs; None for packed inputs and for none."""
    if isinstance(x, Dataset):
        x = x.x
    if isinstance(x, Mapping) or not isinstance(x, list | tuple | np.ndarray) or not is_sized(x) or not len(x):
        return None
    return split_pairs(x)[1] is not None


def split_pairs(x: Any) -> tuple[list, list | None]:
    """Split what `text_examples` accepts into texts and second texts; None without second texts."""
    if isinstance(x, str):
        raise KerasBertError(f"expected a list of texts, received one string: {x[:40]!r}; put it in a list")
    if isinstance(x, tuple) and len(x) == 2 and not isinstance(x[0], str):
        return _list(x[0]), _list(x[1])
    rows = _list(x)
    if rows and all(isinstance(row, tuple | list) and len(row) == 2 for row in rows):
        return [row[0] for row in rows], [row[1] for row in rows]
    return rows, None


def text_features(examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
    """Tokenize texts or pairs, one row for each."""
    return Features.from_encoded(tokenizer.encode(*columns(examples), max_length=length))


def columns(examples: Sequence) -> tuple[list[str], list[str] | None]:
    """Split examples into texts and second texts; None where they are no pairs."""
    if examples and isinstance(examples[0], tuple):
        return [first for first, _ in examples], [second for _, second in examples]
    return list(examples), None


def _list(x: Any) -> list:
    if not isinstance(x, list | tuple | np.ndarray) and not hasattr(x, "__array__"):
        raise KerasBertError(f"expected texts as a list or a 1-D array, received {type(x).__name__}")
    if not isinstance(x, list | tuple):
        x = np.asarray(x)
        if x.ndim != 1:
            raise KerasBertError(f"expected texts as a list or a 1-D array, received an array of shape {x.shape}")
    return list(x)
