"""Shared layers: the same weights in several calls, an activation range for each call."""

from collections import Counter
from collections.abc import Iterable, Iterator

import tf_keras as keras

from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.traversal import sublayers


def numbered_calls(blocks: Iterable[keras.layers.Layer]) -> Iterator[tuple[keras.layers.Layer, int]]:
    """Blocks in the order of their calls, each with the number of its own call, from 0 on."""
    calls: Counter[int] = Counter()
    for block in blocks:
        yield block, calls[id(block)]
        calls[id(block)] += 1


def set_num_calls(layer: keras.layers.Layer, calls: int) -> None:
    """Gives every activation quantizer below `layer` a range for each of so many calls."""
    for quantizer in sublayers(layer, ActivationFakeQuant):
        quantizer.set_num_calls(calls)


def set_call(layer: keras.layers.Layer, call_index: int) -> None:
    """Sets which of its calls a layer computes next."""
    for quantizer in sublayers(layer, ActivationFakeQuant):
        quantizer.call_index = call_index
