"""Quantizes a float model with the ranges that training found. ai-edge-quantizer does the rewriting.

The converter's own quantizer does not fit: it breaks a BERT into dozens of XNNPACK partitions, and does not convert per-channel fake
quantization of a Dense layer. Here softmax, norms and GELU stay in float between int8 Dense layers, and the graph stays one partition.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from kerasbert.console.native_output import suppress_stderr
from kerasbert.errors import KerasBertError
from kerasbert.export.passes.context import DensePlan, PassContext
from kerasbert.export.passes.recipes import Recipe
from kerasbert.export.tflite.constants import TABLE_INPUT
from kerasbert.export.tflite.graph_editor import GraphEditor, Operator, graphs_of, operators_of
from kerasbert.export.tflite.model import Model, decode, encode

Ranges: TypeAlias = dict[str, Any]  # `min` and `max` of tensors by name, arrays of the tensor's rank


def quantize(model: Model, context: PassContext) -> None:
    """Store kernels and the context's tables as integers; each Dense layer is static, dynamic or float as recipe and plan say.

        before:  float -> FULLY_CONNECTED (float32 kernel) -> float
        static:  float -> QUANTIZE -> int8 -> FULLY_CONNECTED (int8 kernel) -> int8 -> DEQUANTIZE -> float
        dynamic: float -> FULLY_CONNECTED (int8 kernel) -> float
        float:   float -> FULLY_CONNECTED (int8 kernel -> DEQUANTIZE -> float32 kernel) -> float

    Dense layers and tables are found in the graph by their contents, so nothing depends on the names that a converter generates.

    Raises:
        KerasBertError: when a planned Dense layer is missing in the graph, or one of the graph has no plan: training and file would differ.
    """
    if not (context.plans or context.tables):
        return
    from ai_edge_quantizer.recipe_manager import RecipeManager

    _set_table_rank(model, 2)
    graphs, manager = graphs_of(model), RecipeManager()
    ranges = _configure_tables(graphs[0], manager, context)
    tied = {digest(table) for table in context.tables}
    for graph, operator, plan in match_plans(graphs, context.plans, context.keeps_float):
        if plan.kernel not in tied:  # a tied kernel shares the buffer of its table, see `tie_embeddings`
            ranges |= _configure_dense(graph, manager, operator, plan, context.recipe, context.per_channel)
    _rewrite(model, manager, ranges)
    _set_table_rank(model, 3)


def _configure_tables(graph: GraphEditor, manager: Any, context: PassContext) -> Ranges:
    from ai_edge_quantizer.qtyping import QuantGranularity, TFLOperationName

    ranges: Ranges = {}
    for operator, bounds in table_reads(graph, "GATHER", context.tables):
        manager.add_static_config(scope(graph, operator), TFLOperationName.GATHER, 8, 8)
        for tensor in (operator.inputs[0], operator.outputs[0]):
            ranges[graph.name(tensor)] = _bounds(graph, tensor, *bounds)
    for operator, _ in table_reads(graph, "EMBEDDING_LOOKUP", context.tables):
        lookup = scope(graph, operator), TFLOperationName.EMBEDDING_LOOKUP
        manager.add_dynamic_config(*lookup, context.table_bits, QuantGranularity.CHANNELWISE)
    return ranges


def _configure_dense(
    graph: GraphEditor, manager: Any, operator: Operator, plan: DensePlan, recipe: Recipe, per_channel: bool
) -> Ranges:
    from ai_edge_quantizer.qtyping import QuantGranularity, TFLOperationName

    dense = scope(graph, operator), TFLOperationName.FULLY_CONNECTED
    if plan.input_range is None or plan.output_range is None:
        granularity = QuantGranularity.CHANNELWISE if per_channel else QuantGranularity.TENSORWISE
        granularity = granularity if plan.block is None else QuantGranularity[f"BLOCKWISE_{plan.block}"]
        add = manager.add_weight_only_config if recipe.dense == "float" else manager.add_dynamic_config
        add(*dense, plan.kernel_bits or recipe.kernel_bits, granularity)
        return {}
    manager.add_static_config(*dense, recipe.activation_bits, recipe.kernel_bits)
    sides = ((operator.inputs[0], plan.input_range), (operator.outputs[0], plan.output_range))
    return {graph.name(tensor): _bounds(graph, tensor, *bounds) for tensor, bounds in sides}


def _rewrite(model: Model, recipe_manager: Any, ranges: Ranges) -> None:
    """Quantize a model in place as ai-edge-quantizer's recipe manager says, with these ranges.

    These are the working parts of its `Quantizer`. Its check of the ranges is left out, because it runs the float model, which takes two
    more copies of the weights.
    """
    from ai_edge_quantizer.model_modifier import ModelModifier
    from ai_edge_quantizer.params_generator import ParamsGenerator
    from ai_edge_quantizer.utils.tfl_flatbuffer_utils import read_model

    content = read_model(memoryview(encode(model)))  # its objects differ from the schema's: lists, and fewer buffers
    with suppress_stderr():
        parameters = ParamsGenerator(content).generate_quantization_parameters(recipe_manager, ranges, False)
        quantized = bytes(ModelModifier(content).modify_model(parameters, enable_progress_bar=False))
    vars(model).update(vars(decode(quantized)))


def _set_table_rank(model: Model, rank: int) -> None:
    """Set the rank of tables that are gathered along axis 1, `(1, rows, width)`.

    ai-edge-quantizer 0.10 takes tables above 32 MiB with rank 2 only; the graph needs rank 3.
    """
    graph = GraphEditor(model)
    for operator in graph.operators("GATHER"):
        if operator.options.axis == 1:
            table = graph.tensor(operator.inputs[0])
            table.shape = np.array(((1,) * rank + tuple(table.shape[-2:]))[-rank:], np.int32)


def scope(graph: GraphEditor, operator: Operator) -> str:
    """Return a regular expression that matches this operator alone.

    ai-edge-quantizer names an operator by its outputs, each followed by `;`.
    """
    names = "".join(f"{graph.name(tensor)};" for tensor in operator.outputs)
    return f"^{re.escape(names)}$"


def _bounds(graph: GraphEditor, tensor: int, minimum: float, maximum: float) -> dict[str, np.ndarray]:
    """Return a tensor's calibration result in ai-edge-quantizer's form: `min` and `max`, arrays of the tensor's rank."""
    shape = (1,) * len(graph.tensor(tensor).shape)
    return {"min": np.full(shape, minimum, np.float32), "max": np.full(shape, maximum, np.float32)}


def table_reads(
    graph: GraphEditor, kind: str, tables: Sequence[np.ndarray]
) -> Iterator[tuple[Operator, tuple[float, float]]]:
    """Yield each operator of a kind that reads one of the tables, GATHER or EMBEDDING_LOOKUP, with the table's range."""
    for operator in graph.operators(kind):
        values = graph.constant(operator.inputs[TABLE_INPUT[kind]])
        if any(_is_same_table(table, values) for table in tables):
            bound = float(np.abs(values).max())
            # 128/127: the quantizer's asymmetric formula then gives the symmetric grid -127..127 with zero point 0.
            yield operator, (-bound * 128 / 127, bound)


def _is_same_table(table: np.ndarray, values: np.ndarray) -> bool:
    """Return whether a constant of the graph is the table `(rows, width)`, possibly with a leading axis of 1."""
    return (
        table.shape == values.shape[-2:]
        and table.size == values.size
        and np.array_equal(table, values.reshape(table.shape))
    )


def match_plans(
    graphs: Sequence[GraphEditor], plans: Sequence[DensePlan], keeps_float: bool = False
) -> Iterator[tuple[GraphEditor, Operator, DensePlan]]:
    """Yield each FULLY_CONNECTED with its graph and its plan, matched by the kernel's contents. Equal kernels match in graph order.

    With `keeps_float` an operator without plan is left out.

    Raises:
        KerasBertError: when an operator has no plan, or a plan has no operator.
    """
    open_plans = defaultdict(list)
    for plan in plans:
        open_plans[plan.kernel].append(plan)
    for graph, operator in operators_of(graphs, "FULLY_CONNECTED"):
        kernel = graph.constant(operator.inputs[1])
        candidates = open_plans.get(digest(kernel))
        if not candidates and keeps_float:
            continue
        if not candidates:
            raise KerasBertError(
                f"expected only Dense layers of the model in the graph, received another with a kernel of shape {kernel.shape}; "
                "report this as a bug"
            )
        yield graph, operator, candidates.pop(0)
    if missing := [plan.path for candidates in open_plans.values() for plan in candidates]:
        raise KerasBertError(
            f"expected every Dense layer of the model in the graph, received one without {len(missing)} of them: "
            f"{', '.join(missing[:3])}; report this as a bug"
        )


def digest(array: np.ndarray) -> str:
    """Return a digest of an array's shape and contents, by which a constant is found without keeping a copy of it."""
    sha256 = hashlib.sha256(repr(array.shape).encode())
    sha256.update(np.ascontiguousarray(array).data)
    return sha256.hexdigest()
