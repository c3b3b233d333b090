"""A word table that is also the decoder of a masked language model: both readers of a file find it in one int8 buffer."""

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import Model, operator_kinds


def tie_embeddings(model: Model, context: PassContext) -> None:
    """Makes a decoder whose kernel is one of the context's tables read the buffer of the look-up in this table.

    The quantizer writes a copy of the table for each kind of reader. Training sees one grid for both: one scale for the whole table. A
    FULLY_CONNECTED wants a scale for each word, and is given that one as often as there are words.
    """
    graph, kinds = model.subgraphs[0], operator_kinds(model)
    readers = {
        kind: [op for op in graph.operators if kinds[op.opcodeIndex] == kind] for kind in ("GATHER", "FULLY_CONNECTED")
    }
    copies = set()
    for gather in readers["GATHER"]:
        stored = graph.tensors[gather.inputs[0]]
        table = next((table for table in context.tables if _holds(model, stored, table)), None)
        for dense in readers["FULLY_CONNECTED"] if table is not None else ():
            kernel = graph.tensors[dense.inputs[1]]
            if kernel.buffer != stored.buffer and _holds(model, kernel, table):
                copies.add(kernel.buffer)
                _point(kernel, stored)
    for unused in copies - {tensor.buffer for part in model.subgraphs for tensor in part.tensors}:
        model.buffers[unused].data = None


def _holds(model: Model, tensor, table: np.ndarray) -> bool:
    """Whether a constant is the table, in float or on a grid of 8 bits."""
    from ai_edge_litert.schema_py_generated import TensorType

    data = model.buffers[tensor.buffer].data
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
