"""Reads tables of fewer than 8 bits by EMBEDDING_LOOKUP, the one operator that takes a scale for each row."""

from collections.abc import Sequence

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.passes.quantize import table_reads
from kerasbert.export.tflite.graph_editor import GraphEditor, Operator
from kerasbert.export.tflite.model import Model

_VERSION = 4  # of EMBEDDING_LOOKUP, with values of 4 bits


def look_up_tables(model: Model, context: PassContext) -> None:
    """Change each GATHER of one of the context's tables to an EMBEDDING_LOOKUP, if the tables have fewer than 8 bits.

        before:  ids (1, length) -> GATHER -> (1, length, width)
        after:   ids (1, length) -> RESHAPE -> EMBEDDING_LOOKUP -> RESHAPE -> (1, length, width)

    EMBEDDING_LOOKUP takes a list of ids. Its output is float, in the values of the table's grid.
    """
    if context.table_bits == 8:
        return
    with GraphEditor(model) as graph:
        for gather, _ in table_reads(graph, "GATHER", context.tables):
            graph.replace(gather, *_lookup(graph, gather))


def _lookup(graph: GraphEditor, gather: Operator) -> list[Operator]:
    (table, ids), (rows,) = gather.inputs, gather.outputs
    width = int(graph.tensor(table).shape[-1])
    listed = _listed(graph, ids, ())
    found = _listed(graph, rows, (width,))
    lookup = graph.operator("EMBEDDING_LOOKUP", [listed, table], [found], version=_VERSION)
    return [_reshape(graph, ids, listed), lookup, _reshape(graph, found, rows)]


def _listed(graph: GraphEditor, tensor: int, inner: Sequence[int]) -> int:
    """Add a tensor that has the outer axes of another one, `(1, length)`, as a single one."""
    length = int(graph.tensor(tensor).shape[1])
    listed = graph.add_tensor(tensor, f"{graph.name(tensor)}/list", (length, *inner))
    if graph.tensor(tensor).shapeSignature is not None:
        graph.tensor(listed).shapeSignature = np.array((-1, *inner), np.int32)
    return listed


def _reshape(graph: GraphEditor, source: int, target: int) -> Operator:
    info = graph.tensor(target)
    shape = info.shape if info.shapeSignature is None else info.shapeSignature  # with -1 for a resizable length
    return graph.operator("RESHAPE", [source], [target], newShape=np.array(shape, np.int32))
