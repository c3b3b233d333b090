"""A checkpoint's tables cut or grown to other sizes, when a user asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.checkpoints.messages import mismatch
from kerasbert.checkpoints.name_tables import ARCHITECTURES

if TYPE_CHECKING:  # encoders need TensorFlow
    from kerasbert.layers.config import EncoderConfig

_POSITIONS = {"embeddings.position.table": 0}
_WORDS = {
    "embeddings.word.table": 0,
    "masked_lm.bias": 0,
    "masked_lm.decoder": 0,
    "masked_lm.further_decoder": 1,
}  # variable -> the axis that counts words


def resized(
    config: EncoderConfig,
    tensors: Mapping[str, np.ndarray],
    *,
    max_position_embeddings: int | None = None,
    vocab_size: int | None = None,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """`tensors` with other table sizes; the config that goes with them has the same two numbers.

    max_position_embeddings: the first so many rows of the position table are kept; more than there are is an error, because positions
        that were never trained say nothing.
    vocab_size: the word table keeps its first rows; new ones are drawn as a new model's would be, and so are those of a masked-LM decoder.

    Raises KerasBertError for a size below 1, and a position table that would have to grow.
    """
    found = dict(tensors)
    if max_position_embeddings is not None:
        for name, axis in _named(config, found, _POSITIONS):
            rows = found[name].shape[axis]
            if not 0 < max_position_embeddings <= rows:
                raise mismatch(name, f"max_position_embeddings from 1 to {rows}", str(max_position_embeddings))
            found[name] = found[name][:max_position_embeddings]
    if vocab_size is not None:
        if vocab_size < 1:
            raise mismatch("vocab_size", "at least 1", str(vocab_size))
        draw = np.random.default_rng(seed)
        for name, axis in _named(config, found, _WORDS):
            found[name] = _with_rows(found[name], axis, vocab_size, draw, config.initializer_range)
    return found


def _named(config: EncoderConfig, tensors: Mapping, axes: Mapping[str, int]) -> list[tuple[str, int]]:
    """The tensors behind those variables, as this checkpoint names them."""
    names = ARCHITECTURES[config.model_type]
    entries = [*names.encoder(config), *names.heads["masked_lm"]]
    theirs = {entry.checkpoint: axes[entry.model] for entry in entries if entry.model in axes}
    bare = {name: name.removeprefix(names.prefix) for name in tensors}
    return [(name, theirs[short]) for name, short in bare.items() if short in theirs]


def _with_rows(tensor: np.ndarray, axis: int, rows: int, draw: np.random.Generator, spread: float) -> np.ndarray:
    kept = np.take(tensor, np.arange(min(rows, tensor.shape[axis])), axis)
    shape = list(tensor.shape)
    shape[axis] = rows - kept.shape[axis]
    new = np.zeros(shape) if tensor.ndim == 1 else draw.normal(0.0, spread, shape).clip(-2 * spread, 2 * spread)
    return np.concatenate([kept, new.astype(tensor.dtype)], axis)
