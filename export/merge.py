"""Files of several lengths as one: a signature each, and every constant once."""

import hashlib
from collections.abc import Mapping

from kerasbert.export.flatbuffer import pack, unpack


def merged(files: Mapping[str, bytes]) -> bytes:
    """One file with the subgraph of each, under the signature that the mapping names it by. Each file has one subgraph and one signature.

    Nothing of a graph is changed, so each signature computes what its own file did. Constants of equal bytes share a buffer; what remains
    of each length is its operators and its rows of the position table.
    """
    contents = {name: unpack(file) for name, file in files.items()}
    first = next(iter(contents.values()))
    buffers, codes = _Once(_buffer_key), _Once(_code_key)
    buffers.place(first.buffers[0])  # the empty one: by convention the first
    graphs, signatures = [], []
    for name, content in contents.items():
        (graph,), (signature,) = content.subgraphs, content.signatureDefs
        for tensor in graph.tensors:
            tensor.buffer = buffers.place(content.buffers[tensor.buffer])
        for operator in graph.operators:
            operator.opcodeIndex = codes.place(content.operatorCodes[operator.opcodeIndex])
        graph.name = signature.signatureKey = name
        signature.subgraphIndex = len(graphs)
        graphs.append(graph)
        signatures.append(signature)
    for entry in first.metadata or ():
        entry.buffer = buffers.place(first.buffers[entry.buffer])
    first.subgraphs, first.signatureDefs = graphs, signatures
    first.buffers, first.operatorCodes = buffers.kept, codes.kept
    return pack(first)


class _Once:
    """Things in the order of their first, each once."""

    def __init__(self, key):
        self._key, self._places, self.kept = key, {}, []

    def place(self, thing) -> int:
        """Its number among those kept."""
        key = self._key(thing)
        if key not in self._places:
            self._places[key] = len(self.kept)
            self.kept.append(thing)
        return self._places[key]


def _buffer_key(buffer) -> bytes:
    return b"" if buffer.data is None or not len(buffer.data) else hashlib.sha256(memoryview(buffer.data)).digest()


def _code_key(code) -> tuple:
    return max(code.builtinCode, code.deprecatedBuiltinCode), code.customCode, code.version
