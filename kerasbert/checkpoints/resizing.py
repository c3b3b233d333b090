"""Resizing of a checkpoint's position and token embeddings."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kerasbert.checkpoints.messages import mismatch
from kerasbert.checkpoints.name_tables import ARCHITECTURES

# Variable -> the axis that is resized.
_POSITION_AXES = {"embeddings.position.table": 0}
_VOCABULARY_AXES = {
    "embeddings.word.table": 0,
    "masked_lm.bias": 0,
    "masked_lm.decoder": 0,
    "masked_lm.further_decoder": 1,
}


def resize_tables(
    config: Any,
    tensors: Mapping[str, np.ndarray],
    *,
    max_position_embeddings: int | None = None,
    vocab_size: int | None = None,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Resize the embedding tables of a checkpoint. The caller changes the config to the same sizes.

    Args:
        config: the encoder's config before the change.
        tensors: the checkpoint's tensors by name.
        max_position_embeddings: number of position embeddings to keep. It cannot grow: new positions would be untrained.
        vocab_size: new size of the vocabulary. The first token embeddings are kept. New ones, also in a masked-LM decoder, are drawn
            from the initializer.
        seed: of the new embeddings.

    Returns:
        All tensors, with the resized ones replaced.

    Raises:
        KerasBertError: when a size is below 1, or the position embeddings would grow.
    """
    resized = dict(tensors)
    if max_position_embeddings is not None:
        for name, axis in _find_tensors(config, resized, _POSITION_AXES):
            available = resized[name].shape[axis]
            if not 0 < max_position_embeddings <= available:
                raise mismatch(
                    name,
                    f"max_position_embeddings from 1 to {available}",
                    str(max_position_embeddings),
                    "pass a number in this range",
                )
            resized[name] = resized[name][:max_position_embeddings]
    if vocab_size is not None:
        if vocab_size < 1:
            raise mismatch("vocab_size", "at least 1", str(vocab_size), "pass a larger number")
        generator = np.random.default_rng(seed)
        for name, axis in _find_tensors(config, resized, _VOCABULARY_AXES):
            resized[name] = _resize_axis(resized[name], axis, vocab_size, generator, config.initializer_range)
    return resized


def _find_tensors(config: Any, tensors: Mapping[str, Any], axes: Mapping[str, int]) -> list[tuple[str, int]]:
    """The checkpoint's names of those variables, each with its axis."""
    architecture = ARCHITECTURES[config.model_type]
    entries = [*architecture.encoder(config), *architecture.heads["masked_lm"]]
    axis_of = {entry.checkpoint: axes[entry.model] for entry in entries if entry.model in axes}
    unprefixed = {name: name.removeprefix(architecture.prefix) for name in tensors}
    return [(name, axis_of[short]) for name, short in unprefixed.items() if short in axis_of]


def _resize_axis(tensor: np.ndarray, axis: int, size: int, generator: np.random.Generator, stddev: float) -> np.ndarray:
    kept = np.take(tensor, np.arange(min(size, tensor.shape[axis])), axis)
    shape = list(tensor.shape)
    shape[axis] = size - kept.shape[axis]
    new = np.zeros(shape) if tensor.ndim == 1 else generator.normal(0.0, stddev, shape).clip(-2 * stddev, 2 * stddev)
    return np.concatenate([kept, new.astype(tensor.dtype)], axis)
