"""Watching every place of a model that a policy may quantize while it runs: activations, kernels, tables, constants."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import tensorflow as tf

from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.weight_quantizers import ConstantFakeQuant, KernelFakeQuant
from kerasbert.layers.traversal import sublayers

Place = ActivationFakeQuant | KernelFakeQuant | ConstantFakeQuant | EmbeddingTable
Key = tuple[str, int]  # a path and the number of a call, which is 0 where there is one only


def key_of(place: Place) -> Key:
    """The path that a place is reported under, and the call whose turn it is."""
    if isinstance(place, ActivationFakeQuant):
        return place.path, place.call_index
    return (f"{place.path}.table" if isinstance(place, EmbeddingTable) else place.path), 0


def kind_of(place: Place) -> str:
    """`static`, `dynamic` or `float` of an activation; `kernel`, `table` or `constant`."""
    if isinstance(place, ActivationFakeQuant):
        return place.kind
    return (
        "table" if isinstance(place, EmbeddingTable) else "kernel" if isinstance(place, KernelFakeQuant) else "constant"
    )


def quantized(place: Place, values):
    """The values as the place's 8 bits hold them."""
    return place.rounded(values) if isinstance(place, EmbeddingTable) else place.quantized(values)


@contextmanager
def observed(task, observer: Callable) -> Iterator[None]:
    """Has every place call `observer(place, values)` and give what it gives; the model must run eagerly meanwhile.

    An observer that is `before_scaling` is asked at activations in float as well.
    """
    places = [
        place
        for kind in (ActivationFakeQuant, KernelFakeQuant, ConstantFakeQuant, EmbeddingTable)
        for place in sublayers(task, kind)
    ]
    for place in places:
        place.observer = observer
    try:
        yield
    finally:
        for place in places:
            place.observer = None


class QuantizesOnly:
    """An observer that quantizes the places of these keys and leaves the others in float; None: quantizes all."""

    before_scaling = False

    def __init__(self, keys: set[Key] | None):
        self.keys = keys

    def __call__(self, place: Place, values):
        return quantized(place, values) if self.keys is None or key_of(place) in self.keys else values


def packed(task, rows, index) -> dict[str, tf.Tensor]:
    """The rows numbered `index` as the model reads them, padded to a multiple of 8 tokens."""
    longest = max((int(rows.lengths[i]) for i in index), default=0)
    arrays = rows.pack(index, min(-(-longest // 8) * 8, task.sequence_length), task.config.pad_token_id)
    return {name: tf.constant(values.reshape(-1, values.shape[-1])) for name, values in arrays.items()}


def attended_values(values: np.ndarray, attended: np.ndarray) -> tuple[np.ndarray, bool]:
    """The values of tokens that are no padding as (rows, channels), and whether a row is one token (or one text).

    Args:
      values: (batch, length, channels); attention's (batch, heads, length, length), whose channels are heads; or anything else, which
        is kept whole.
      attended: (batch, length), True where there is a token.
    """
    if values.ndim == 3 and values.shape[:2] == attended.shape:
        return values[attended], True
    if values.ndim == 4 and values.shape[0] == len(attended) and values.shape[2:] == (attended.shape[1],) * 2:
        return values.transpose(0, 2, 3, 1)[attended[:, :, None] & attended[:, None, :]], False
    return values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1), values.ndim > 1
