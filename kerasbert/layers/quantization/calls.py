"""Shared layers: the same weights in several calls, an activation range for each call."""

from collections import Counter
from collections.abc import Iterable, Iterator

import tf_keras as keras

from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.traversal import sublayers


def numbered_calls(blocks: Iterable[keras.layers.Layer]) -> Iterator[tuple[keras.layers.Layer, int]]:
    """Yield blocks in the order of their calls, each with the index of its own call."""
    calls: Counter[int] = Counter()
    for block in blocks:
        yield block, calls[id(block)]
        calls[id(block)] += 1


def each_call(encoder: keras.layers.Layer) -> Iterator[keras.layers.Layer]:
    """Yield an encoder's blocks in the order of their calls, each with its quantizers set to that call."""
    for block, call_index in numbered_calls(encoder.stack()):
        if encoder.policy is not None:
            set_call(block, call_index)
        yield block


def set_num_calls(layer: keras.layers.Layer, calls: int) -> None:
    """Give every activation quantizer below `layer` one range per call."""
    for quantizer in sublayers(layer, ActivationFakeQuant):
        quantizer.set_num_calls(calls)


def set_call(layer: keras.layers.Layer, call_index: int) -> None:
    """Set which of its calls a layer computes next."""
    for quantizer in sublayers(layer, ActivationFakeQuant):
        quantizer.call_index = call_index
