"""A float model to int8, with the ranges that training found. The rewriting is ai-edge-quantizer's.

Why not the converter's own quantizer: it breaks a BERT into dozens of XNNPACK partitions, and per-channel fake-quant on a Dense layer does
not convert at all. Here softmax, norms and GELU stay in float between int8 Dense layers, and the whole graph stays one partition.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from kerasbert.console.native_output import suppress_stderr
from kerasbert.errors import KerasBertError
from kerasbert.export.passes.context import DensePlan, PassContext
from kerasbert.export.passes.float_graph import FloatGraph
from kerasbert.export.tflite.model import Model, decode, encode, operator_kinds


def quantize(model: Model, context: PassContext) -> None:
    """Stores kernels and the context's tables as integers; each Dense layer is static, dynamic or float as recipe and plan say.

    Dense layers and tables are found in the graph by their contents, so nothing depends on the names that a converter makes up.

    Raises:
        KerasBertError: one is not found, or a Dense layer of the graph has no plan: then training and file would differ.
    """
    if not context.plans:
        return
    from ai_edge_quantizer.qtyping import QuantGranularity, TFLOperationName
    from ai_edge_quantizer.recipe_manager import RecipeManager

    _set_table_rank(model, 2)
    recipe, graph, manager = context.recipe, FloatGraph(model), RecipeManager()
    tied, ranges = {digest(table) for table in context.tables}, {}
    granularity = QuantGranularity.CHANNELWISE if context.per_channel else QuantGranularity.TENSORWISE
    for operator, bounds in table_gathers(graph, context.tables):
        manager.add_static_config(graph.scope(operator), TFLOperationName.GATHER, 8, 8)
        for tensor in (operator.inputs[0], operator.outputs[0]):
            ranges[graph.name(tensor)] = graph.bounds(tensor, *bounds)
    for operator, plan in matched(graph, context.plans):
        if plan.kernel in tied:  # one buffer for the look-up and for this: see `tie_embeddings`
            continue
        dense = graph.scope(operator), TFLOperationName.FULLY_CONNECTED
        if plan.reads is None:
            add = manager.add_weight_only_config if recipe.dense == "float" else manager.add_dynamic_config
            add(*dense, recipe.kernel_bits, granularity)
            continue
        manager.add_static_config(*dense, recipe.activation_bits, recipe.kernel_bits)
        for tensor, bounds in ((operator.inputs[0], plan.reads), (operator.outputs[0], plan.writes)):
            ranges[graph.name(tensor)] = graph.bounds(tensor, *bounds)
    _rewrite(model, manager, ranges)
    _set_table_rank(model, 3)


def _rewrite(model: Model, recipe_manager, ranges: dict[str, dict[str, np.ndarray]]) -> None:
    """Quantizes as ai-edge-quantizer's recipe manager says. ranges: `min` and `max` of tensors by name, arrays of the tensor's rank.

    The parts of its `Quantizer` that work, without its check of the ranges, which runs the float model and so holds it twice more.
    """
    from ai_edge_quantizer.model_modifier import ModelModifier
    from ai_edge_quantizer.params_generator import ParamsGenerator
    from ai_edge_quantizer.utils.tfl_flatbuffer_utils import read_model

    content = read_model(memoryview(encode(model)))  # its objects are not those of the schema: lists, and fewer buffers
    with suppress_stderr():
        parameters = ParamsGenerator(content).generate_quantization_parameters(recipe_manager, ranges, False)
        quantized = bytes(ModelModifier(content).modify_model(parameters, enable_progress_bar=False))
    vars(model).update(vars(decode(quantized)))


def _set_table_rank(model: Model, rank: int) -> None:
    """Gives tables that are looked up along their second axis, (1, rows, H), so many dimensions: 2 for ai-edge-quantizer, which takes no
    others above 32 MiB (0.10), 3 as they are."""
    (graph,), kinds = model.subgraphs, operator_kinds(model)
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "GATHER" and operator.builtinOptions.axis == 1:
            table = graph.tensors[operator.inputs[0]]
            table.shape = np.array(((1,) * rank + tuple(table.shape[-2:]))[-rank:], np.int32)


def table_gathers(graph: FloatGraph, tables: Sequence[np.ndarray]) -> Iterator[tuple]:
    """Each look-up in one of the tables, with the range of the table."""
    for operator in graph.operators("GATHER"):
        table = graph.constant(operator.inputs[0])
        if any(_same(known, table) for known in tables):
            bound = float(np.abs(table).max())
            # 128/127: the quantizer's asymmetric formula then gives the symmetric grid -127..127 with zero point 0.
            yield operator, (-bound * 128 / 127, bound)


def _same(known: np.ndarray, table: np.ndarray) -> bool:
    """Whether a table (rows, width) stands in a graph, there with an axis of 1 before it or not."""
    return (
        known.shape == table.shape[-2:]
        and known.size == table.size
        and np.array_equal(known, table.reshape(known.shape))
    )


def matched(graph: FloatGraph, plans: Sequence[DensePlan]) -> Iterator[tuple]:
    """Each FULLY_CONNECTED of the graph with its plan, by the kernel's contents; equal kernels are taken in the order of the graph."""
    waiting = defaultdict(list)
    for plan in plans:
        waiting[plan.kernel].append(plan)
    for operator in graph.operators("FULLY_CONNECTED"):
        kernel = graph.constant(operator.inputs[1])
        found = waiting.get(digest(kernel))
        if not found:
            raise KerasBertError(
                f"expected every dense of the graph to be one of the model's, received another with a kernel of shape {kernel.shape}"
            )
        yield operator, found.pop(0)
    if left := [plan.path for found in waiting.values() for plan in found]:
        raise KerasBertError(
            f"expected every dense of the model in the graph, {len(left)} are not there: {', '.join(left[:3])}"
        )


def digest(array: np.ndarray) -> str:
    """What tells one constant from another: shape and contents, without keeping a copy of them."""
    found = hashlib.sha256(repr(array.shape).encode())
    found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
