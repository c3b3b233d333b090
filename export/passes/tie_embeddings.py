"""Ties the decoder of a masked language model to its token embeddings: both read one int8 buffer."""

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import GraphTensor, Model, operator_kinds, schema


def tie_embeddings(model: Model, context: PassContext) -> None:
    """Make a decoder whose kernel is one of the context's tables read the buffer of this table's GATHER.

    The quantizer writes one copy of the table for GATHER and one for FULLY_CONNECTED. Training uses one grid for both, with one scale for
    the whole table. FULLY_CONNECTED needs a scale per token, so the scale is repeated.
    """
    graph, kinds = model.subgraphs[0], operator_kinds(model)
    gathers, fully_connected = (
        [operator for operator in graph.operators if kinds[operator.opcodeIndex] == kind]
        for kind in ("GATHER", "FULLY_CONNECTED")
    )
    replaced = set()
    for gather in gathers:
        stored = graph.tensors[gather.inputs[0]]
        table = next((table for table in context.tables if _holds_table(model, stored, table)), None)
        if table is None:
            continue
        for dense in fully_connected:
            kernel = graph.tensors[dense.inputs[1]]
            if kernel.buffer != stored.buffer and _holds_table(model, kernel, table):
                replaced.add(kernel.buffer)
                _share_buffer(kernel, stored)
    for unused in replaced - {tensor.buffer for each in model.subgraphs for tensor in each.tensors}:
        model.buffers[unused].data = None


def _holds_table(model: Model, tensor: GraphTensor, table: np.ndarray) -> bool:
    """Return whether a constant is the table, in float32 or in int8."""
    types = schema().TensorType
    data = model.buffers[tensor.buffer].data
    shape = tuple(tensor.shape)[-2:]  # the table of a GATHER may have a leading axis of 1
    if data is None or shape != table.shape or tensor.type not in (types.FLOAT32, types.INT8):
        return False
    if len(data) != table.size * (4 if tensor.type == types.FLOAT32 else 1):
        return False
    raw = np.ascontiguousarray(data, np.uint8)
    if tensor.type == types.FLOAT32:
        return np.array_equal(raw.view(np.float32).reshape(table.shape), table)
    scales = np.asarray(tensor.quantization.scale, np.float32).reshape(-1, 1)
    return bool((np.abs(raw.view(np.int8).reshape(table.shape) * scales - table) <= scales).all())


def _share_buffer(kernel: GraphTensor, table: GraphTensor) -> None:
    """Make a kernel read the buffer of a table, with the table's scale for each output channel."""
    tokens = kernel.shape[0]
    kernel.type, kernel.buffer = table.type, table.buffer
    kernel.quantization = type(table.quantization)()
    kernel.quantization.scale = np.repeat(np.asarray(table.quantization.scale, np.float32)[:1], tokens)
    kernel.quantization.zeroPoint = np.zeros(tokens, np.int64)
    kernel.quantization.quantizedDimension = 0
