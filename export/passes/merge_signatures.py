"""Models of several lengths as one: a signature each, and every constant once."""

import hashlib
from collections.abc import Mapping

import numpy as np

from kerasbert.export.tflite.model import Model


def merge_signatures(models: Mapping[str, Model]) -> Model:
    """One model with the subgraph of each, under the signature that the mapping names it by. Each has one subgraph and one signature.

    Nothing of a graph is changed, so each signature computes what its own file did. Constants of equal bytes share a buffer; what remains
    of each length is its operators and its rows of the position table.
    """
    first = next(iter(models.values()))
    buffers, codes, scales = _Once(_buffer_key), _Once(_code_key), _Once(_scales_key, _PackedOnce)
    buffers.place(first.buffers[0])  # the empty one: by convention the first
    graphs, signatures = [], []
    for name, model in models.items():
        (graph,), (signature,) = model.subgraphs, model.signatureDefs
        for tensor in graph.tensors:
            tensor.buffer = buffers.place(model.buffers[tensor.buffer])
            if tensor.quantization is not None:
                tensor.quantization = scales.kept[scales.place(tensor.quantization)]
        for operator in graph.operators:
            operator.opcodeIndex = codes.place(model.operatorCodes[operator.opcodeIndex])
        graph.name = signature.signatureKey = name
        signature.subgraphIndex = len(graphs)
        graphs.append(graph)
        signatures.append(signature)
    for entry in first.metadata or ():
        entry.buffer = buffers.place(first.buffers[entry.buffer])
    first.subgraphs, first.signatureDefs = graphs, signatures
    first.buffers, first.operatorCodes = buffers.kept, codes.kept
    return first


class _Once:
    """Things in the order of their first, each once. kept_as: what is made of those that are kept."""

    def __init__(self, key, kept_as=lambda thing: thing):
        self._key, self._kept_as, self._places, self.kept = key, kept_as, {}, []

    def place(self, thing) -> int:
        """Its number among those kept."""
        key = self._key(thing)
        if key not in self._places:
            self._places[key] = len(self.kept)
            self.kept.append(self._kept_as(thing))
        return self._places[key]


class _PackedOnce:
    """An object of the schema that is written at its first use; later ones point there, as a FlatBuffer may. Scales of channels, 12 bytes
    for each, would otherwise stand there again for every length."""

    def __init__(self, thing):
        self._thing, self._offset = thing, None

    def Pack(self, builder) -> int:
        if self._offset is None:
            self._offset = self._thing.Pack(builder)
        return self._offset


def _scales_key(quantization) -> tuple:
    found = vars(quantization).items()
    return tuple(
        (name, None if value is None else np.asarray(value).tobytes()) for name, value in found if name != "details"
    ) + (repr(quantization.details),)


def _buffer_key(buffer) -> bytes:
    return b"" if buffer.data is None or not len(buffer.data) else hashlib.sha256(memoryview(buffer.data)).digest()


def _code_key(code) -> tuple:
    return max(code.builtinCode, code.deprecatedBuiltinCode), code.customCode, code.version
