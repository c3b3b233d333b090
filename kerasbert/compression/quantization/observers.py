"""Observers of every fake quantizer of a model while it runs: activations, kernels, embedding tables."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.embedding_table import QuantizedEmbeddingTable
from kerasbert.layers.quantization.weight_quantizers import KernelFakeQuant
from kerasbert.layers.traversal import sublayers
from kerasbert.processors import Features
from kerasbert.tasks.base import Task

Quantizer = ActivationFakeQuant | KernelFakeQuant | QuantizedEmbeddingTable
QuantizerKey = tuple[str, int]  # path and call index; the index is 0 for a quantizer with one call


class Observer(Protocol):
    """Function that a quantizer calls in place of quantizing.

    Attributes:
        before_scaling: Whether activation quantizers call it before equalization, and also those in float.
    """

    before_scaling: bool

    def __call__(self, quantizer: Any, values: tf.Tensor, /) -> tf.Tensor:
        """Return the values that the model continues with."""
        ...


def quantizer_key(quantizer: Quantizer) -> QuantizerKey:
    """Return the path that reports use for a quantizer, and the index of its current call."""
    if isinstance(quantizer, ActivationFakeQuant):
        return quantizer.path, quantizer.call_index
    return (f"{quantizer.path}.table" if isinstance(quantizer, QuantizedEmbeddingTable) else quantizer.path), 0


def quantizer_kind(quantizer: Quantizer) -> str:
    """Return `static`, `dynamic` or `float` for an activation, otherwise `kernel` or `table`."""
    if isinstance(quantizer, ActivationFakeQuant):
        return quantizer.kind
    return "table" if isinstance(quantizer, QuantizedEmbeddingTable) else "kernel"


def fake_quantize(quantizer: Quantizer, values: tf.Tensor) -> tf.Tensor:
    """Return the values on the quantizer's grid."""
    return quantizer.rounded(values) if isinstance(quantizer, QuantizedEmbeddingTable) else quantizer.quantized(values)


@contextmanager
def observe_quantizers(task: Task, observer: Observer) -> Iterator[None]:
    """Attach an observer to every quantizer of a task.

    The model must run eagerly in this context.

    Args:
        task: A quantized task.
        observer: Called with each quantizer and its values; the model continues with the result.
    """
    kinds = (ActivationFakeQuant, KernelFakeQuant, QuantizedEmbeddingTable)
    quantizers = [quantizer for kind in kinds for quantizer in sublayers(task, kind)]
    for quantizer in quantizers:
        quantizer.observer = observer
    try:
        yield
    finally:
        for quantizer in quantizers:
            quantizer.observer = None


class SelectiveQuantization:
    """Observer that quantizes at these keys and keeps the rest in float; None quantizes everything."""

    before_scaling = False

    def __init__(self, keys: set[QuantizerKey] | None):
        self.keys = keys

    def __call__(self, quantizer: Quantizer, values: tf.Tensor) -> tf.Tensor:
        if self.keys is None or quantizer_key(quantizer) in self.keys:
            return fake_quantize(quantizer, values)
        return values


def pack_rows(task: Task, features: Features, index: Sequence[int]) -> dict[str, tf.Tensor]:
    """Pack some rows as the model's inputs, `(rows * group, length)`, padded to a multiple of 8 tokens.

    Args:
        task: The task that reads the inputs.
        features: Token ids of all rows.
        index: Numbers of the rows to pack.
    """
    longest = max((int(features.lengths[i]) for i in index), default=0)
    arrays = features.pack(index, min(-(-longest // 8) * 8, task.sequence_length), task.config.pad_token_id)
    return {name: tf.constant(values.reshape(-1, values.shape[-1])) for name, values in arrays.items()}


def attended_values(values: np.ndarray, attended: np.ndarray) -> tuple[np.ndarray, bool]:
    """Select the values of tokens that are not padding.

    Args:
        values: `(batch, length, channels)`; or attention `(batch, heads, length, length)`, whose channels are heads; or any other shape,
            which is kept whole.
        attended: `(batch, length)`, True for tokens.

    Returns:
        `(rows, channels)`, and whether a row is one token or one text.
    """
    if values.ndim == 3 and values.shape[:2] == attended.shape:
        return values[attended], True
    if values.ndim == 4 and values.shape[0] == len(attended) and values.shape[2:] == (attended.shape[1],) * 2:
        return values.transpose(0, 2, 3, 1)[attended[:, :, None] & attended[:, None, :]], False
    return values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1), values.ndim > 1
