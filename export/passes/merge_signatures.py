"""Merges models of several lengths into one, with a signature for each and every constant stored once."""

import hashlib
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from kerasbert.export.tflite.model import Model

_LOOP = {"condSubgraphIndex", "bodySubgraphIndex"}  # of a WHILE
_NONE = SimpleNamespace()


def merge_signatures(models: Mapping[str, Model]) -> Model:
    """Merge models with one signature each, on their first subgraph. Further subgraphs are those of loops.

    The graphs stay as they are, so each signature computes what its own file did. Constants of equal bytes share a buffer. Each further
    length adds its operators and its rows of the position table.

    Args:
        models: The models by the name of their signature.

    Returns:
        One model with the subgraph and the signature of each.
    """
    first = next(iter(models.values()))
    buffers, codes = _Unique(_buffer_key), _Unique(_code_key)
    quantizations = _Unique(_quantization_key, _PackedOnce)
    buffers.index(first.buffers[0])  # by convention the first buffer is the empty one
    graphs, signatures = [], []
    for name, model in models.items():
        (signature,) = model.signatureDefs
        for tensor in (tensor for graph in model.subgraphs for tensor in graph.tensors):
            tensor.buffer = buffers.index(model.buffers[tensor.buffer])
            if tensor.quantization is not None:
                tensor.quantization = quantizations.items[quantizations.index(tensor.quantization)]
        for operator in (operator for graph in model.subgraphs for operator in graph.operators):
            operator.opcodeIndex = codes.index(model.operatorCodes[operator.opcodeIndex])
            for subgraph in _LOOP & vars(operator.builtinOptions or _NONE).keys():
                setattr(operator.builtinOptions, subgraph, getattr(operator.builtinOptions, subgraph) + len(graphs))
        model.subgraphs[0].name = signature.signatureKey = name
        signature.subgraphIndex = len(graphs)
        graphs += model.subgraphs
        signatures.append(signature)
    for entry in first.metadata or ():
        entry.buffer = buffers.index(first.buffers[entry.buffer])
    first.subgraphs, first.signatureDefs = graphs, signatures
    first.buffers, first.operatorCodes = buffers.items, codes.items
    return first


class _Unique:
    """Distinct objects in the order of their first occurrence. `wrap` is applied to each before it is stored."""

    def __init__(self, key: Callable[[Any], Any], wrap: Callable[[Any], Any] = lambda item: item):
        self._key, self._wrap = key, wrap
        self._indices: dict[Any, int] = {}
        self.items: list[Any] = []

    def index(self, item: Any) -> int:
        """Return the index of an equal object among `items`; adds the object if there is none."""
        key = self._key(item)
        if key not in self._indices:
            self._indices[key] = len(self.items)
            self.items.append(self._wrap(item))
        return self._indices[key]


class _PackedOnce:
    """An object of the schema that is packed at its first use. Later uses point to the same place, as a FlatBuffer permits.

    Scales of channels take 12 bytes each, and would otherwise be stored again for every length.
    """

    def __init__(self, item: Any):
        self._item, self._offset = item, None

    def Pack(self, builder: Any) -> int | None:
        if self._offset is None:
            self._offset = self._item.Pack(builder)
        return self._offset


def _quantization_key(quantization: Any) -> tuple:
    fields = {name: value for name, value in vars(quantization).items() if name != "details"}
    values = ((name, None if value is None else np.asarray(value).tobytes()) for name, value in fields.items())
    return (*values, repr(quantization.details))


def _buffer_key(buffer: Any) -> bytes:
    return b"" if buffer.data is None or not len(buffer.data) else hashlib.sha256(memoryview(buffer.data)).digest()


def _code_key(code: Any) -> tuple:
    return max(code.builtinCode, code.deprecatedBuiltinCode), code.customCode, code.version
