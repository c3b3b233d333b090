"""A word table that is also the decoder of a masked language model: both readers of a file find it in one int8 buffer."""

import numpy as np

from kerasbert.export.tflite.model import operator_kinds, pack, unpack


def share(model: bytes, tables: list[np.ndarray]) -> bytes:
    """The same file, in which a dense whose kernel is one of the tables reads the buffer that the look-up in this table reads.

    The quantizer writes a copy of the table for each kind of reader. Training sees one grid for both: one step for the whole table. A dense
    wants a step for each word, and is given that one as often as there are words.
    """
    content = unpack(model)
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    readers = {
        kind: [op for op in graph.operators if kinds[op.opcodeIndex] == kind] for kind in ("GATHER", "FULLY_CONNECTED")
    }
    copies = set()
    for gather in readers["GATHER"]:
        stored = graph.tensors[gather.inputs[0]]
        table = next((table for table in tables if _holds(content, stored, table)), None)
        for dense in readers["FULLY_CONNECTED"] if table is not None else ():
            kernel = graph.tensors[dense.inputs[1]]
            if kernel.buffer != stored.buffer and _holds(content, kernel, table):
                copies.add(kernel.buffer)
                _point(kernel, stored)
    if not copies:
        return model
    for unused in copies - {tensor.buffer for part in content.subgraphs for tensor in part.tensors}:
        content.buffers[unused].data = None
    return pack(content)


def _holds(content, tensor, table: np.ndarray) -> bool:
    """Whether a constant is the table, in float or on a grid of 8 bits."""
    from ai_edge_litert.schema_py_generated import TensorType

    data = content.buffers[tensor.buffer].data
    shape = tuple(tensor.shape)[-2:]  # a look-up may have its table with an axis of 1 before it
    if data is None or shape != table.shape or tensor.type not in (TensorType.FLOAT32, TensorType.INT8):
        return False
    if len(data) != table.size * (4 if tensor.type == TensorType.FLOAT32 else 1):
        return False
    raw = np.ascontiguousarray(data, np.uint8)
    if tensor.type == TensorType.FLOAT32:
        return np.array_equal(raw.view(np.float32).reshape(table.shape), table)
    steps = np.asarray(tensor.quantization.scale, np.float32).reshape(-1, 1)
    return bool((np.abs(raw.view(np.int8).reshape(table.shape) * steps - table) <= steps).all())


def _point(kernel, stored) -> None:
    words = kernel.shape[0]
    kernel.type, kernel.buffer = stored.type, stored.buffer
    kernel.quantization = type(stored.quantization)()
    kernel.quantization.scale = np.repeat(np.asarray(stored.quantization.scale, np.float32)[:1], words)
    kernel.quantization.zeroPoint = np.zeros(words, np.int64)
    kernel.quantization.quantizedDimension = 0
