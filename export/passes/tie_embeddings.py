"""Ties the decoder of a masked language model to its token embeddings: both read one buffer of integers."""

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.constants import TABLE_INPUT
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import GraphTensor, Model


def tie_embeddings(model: Model, context: PassContext) -> None:
    """Make a decoder whose kernel is one of the context's tables read the buffer of this table's GATHER or EMBEDDING_LOOKUP.

        before:  buffer 1 -> GATHER;   buffer 2, the same values -> FULLY_CONNECTED
        after:   buffer 1 -> GATHER and FULLY_CONNECTED;   buffer 2 is empty

    The quantizer writes one copy of the table for GATHER and one for FULLY_CONNECTED. Training uses one grid for both. FULLY_CONNECTED
    needs a scale per token, so the one scale of a table in 8 bits is repeated.
    """
    graph = GraphEditor(model)
    for reader in graph.operators("GATHER", "EMBEDDING_LOOKUP"):
        number = reader.inputs[TABLE_INPUT[reader.kind]]
        stored = graph.tensor(number)
        table = next((table for table in context.tables if _holds_table(graph, number, table)), None)
        if table is None:
            continue
        for dense in graph.operators("FULLY_CONNECTED"):
            kernel = graph.tensor(dense.inputs[1])
            if kernel.buffer != stored.buffer and _holds_table(graph, dense.inputs[1], table):
                replaced = kernel.buffer
                _share_buffer(kernel, stored)
                graph.free(replaced)


def _holds_table(graph: GraphEditor, tensor: int, table: np.ndarray) -> bool:
    """Return whether a constant is the table, in float32, int8 or int4. The table of a GATHER may have a leading axis of 1."""
    info = graph.tensor(tensor)
    if tuple(info.shape)[-2:] != table.shape or not graph.has_type(tensor, "FLOAT32", "INT8", "INT4"):
        return False
    values = _int4_values(graph, tensor) if graph.has_type(tensor, "INT4") else graph.constant(tensor)
    if values.size != table.size:
        return False
    values = values.reshape(table.shape)
    if graph.has_type(tensor, "FLOAT32"):
        return np.array_equal(values, table)
    scales = np.asarray(info.quantization.scale, np.float32).reshape(-1, 1)
    return bool((np.abs(values * scales - table) <= scales).all())


def _int4_values(graph: GraphEditor, tensor: int) -> np.ndarray:
    """Return the values of a constant of 4 bits, the lower half of a byte first."""
    data = np.asarray(graph.model.buffers[graph.tensor(tensor).buffer].data, np.uint8)
    halves = np.stack([data << 4, data & 0xF0], axis=-1).view(np.int8) >> 4
    return halves.ravel()[: int(np.prod(graph.tensor(tensor).shape))]


def _share_buffer(kernel: GraphTensor, table: GraphTensor) -> None:
    """Make a kernel read the buffer of a table, with a scale for each output channel: its row's, or the table's."""
    tokens = kernel.shape[0]
    kernel.type, kernel.buffer = table.type, table.buffer
    kernel.quantization = type(table.quantization)()
    kernel.quantization.scale = np.broadcast_to(np.asarray(table.quantization.scale, np.float32), tokens).copy()
    kernel.quantization.zeroPoint = np.zeros(tokens, np.int64)
    kernel.quantization.quantizedDimension = 0
