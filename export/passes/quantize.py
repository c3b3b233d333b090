"""A float `.tflite` to int8, with the ranges that training found. The rewriting of the file is ai-edge-quantizer's.

Why not the converter's own quantizer: it breaks a BERT into dozens of XNNPACK partitions, and per-channel fake-quant on a dense does
not convert at all. Here softmax, norms and GELU stay in float between int8 dense_layers, and the whole graph stays one partition.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from kerasbert.console.native_output import quiet
from kerasbert.errors import KerasBertError
from kerasbert.export.passes.dynamic_range_versions import declare
from kerasbert.export.passes.float_graph import FloatGraph
from kerasbert.export.passes.tie_embeddings import share
from kerasbert.export.recipes import Recipe
from kerasbert.export.tflite.model import operator_kinds, pack, unpack
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.dense import dense_layers
from kerasbert.layers.heads import MaskedLMHead
from kerasbert.layers.traversal import sublayers


@dataclass(frozen=True)
class DensePlan:
    """How one dense is stored and run: `reads` and `writes` are trained (minimum, maximum), or None for a range found at run time.

    kernel: the digest of its kernel (out, in), as the file holds it.
    """

    path: str
    kernel: str
    reads: tuple[float, float] | None = None
    writes: tuple[float, float] | None = None


def dense_plans(task, twin, static: bool) -> list[DensePlan]:
    """One plan for each call of each dense, in the order in which the graph runs them; with trained ranges when `static`."""
    scales = {attention.query.path: attention.scale for attention in sublayers(task, SelfAttention)}
    unserved = {*task.unserved, *(() if task.pools else ("pooler",))}
    plans = []
    for trained, stored in zip(dense_layers(task), dense_layers(twin), strict=True):
        if trained.path in unserved:
            continue
        if static and bool(trained.input_quantizer.ranges) != bool(trained.output_quantizer.ranges):
            raise KerasBertError(
                f"{trained.path}: expected a policy with static ranges on both sides of a dense, or on none; received one side"
            )
        kernel = digest(stored.served_kernel().numpy().T)
        for reads, writes in _ranges(trained) if static else [(None, None)] * trained.input_quantizer.num_calls:
            if writes is not None:  # the query's output is stored scaled
                writes = tuple(bound * scales.get(trained.path, 1.0) for bound in writes)
            plans.append(DensePlan(trained.path, kernel, reads, writes))
    return plans + [plan for head in sublayers(twin, MaskedLMHead) for plan in _decoder_plans(head, twin)]


def _decoder_plans(head: MaskedLMHead, twin) -> list[DensePlan]:
    """The products of a masked-LM head that are no dense layers: with the word table or a decoder of its own, and with what lies beside."""
    words = twin.encoder.embeddings.word.table if head.decoder is None else head.decoder
    plans = [DensePlan("masked_lm.decoder", digest(words.numpy()))]
    if head.further_decoder is not None:
        plans.append(DensePlan("masked_lm.further_decoder", digest(head.further_decoder.numpy().T)))
    return plans


def quantize_file(
    model: bytes, plans: list[DensePlan], tables: list[np.ndarray], recipe: Recipe, per_channel: bool = True
) -> bytes:
    """The file with integer kernels, the given tables in int8, and each dense static, dynamic or in float as the recipe and its plan say.

    per_channel: whether kernels of dynamic dense_layers have a scale for each output channel, which runtimes before 2.17 do not know.

    Denses and tables are found in the graph by their contents, so nothing depends on the names that a converter makes up.
    Raises KerasBertError when one is not found, or a dense of the graph has no plan: then training and file would differ.
    """
    from ai_edge_quantizer.qtyping import QuantGranularity, TFLOperationName
    from ai_edge_quantizer.recipe_manager import RecipeManager

    model = _with_tables_of(2, model)
    graph, manager = FloatGraph(model), RecipeManager()
    tied, ranges = {digest(table) for table in tables}, {}
    for operator, bounds in table_gathers(graph, tables):
        manager.add_static_config(graph.scope(operator), TFLOperationName.GATHER, 8, 8)
        for tensor in (operator.inputs[0], operator.outputs[0]):
            ranges[graph.name(tensor)] = graph.bounds(tensor, *bounds)
    for operator, plan in matched(graph, plans):
        if plan.kernel in tied:  # one buffer for the look-up and for this: `share` does it
            continue
        dense = graph.scope(operator), TFLOperationName.FULLY_CONNECTED
        if plan.reads is None:
            add = manager.add_weight_only_config if recipe.dense == "float" else manager.add_dynamic_config
            add(
                *dense, recipe.kernel_bits, QuantGranularity.CHANNELWISE if per_channel else QuantGranularity.TENSORWISE
            )
            continue
        manager.add_static_config(*dense, recipe.activation_bits, recipe.kernel_bits)
        for tensor, bounds in ((operator.inputs[0], plan.reads), (operator.outputs[0], plan.writes)):
            ranges[graph.name(tensor)] = graph.bounds(tensor, *bounds)
    return declare(share(_with_tables_of(3, rewrite(model, manager, ranges)), tables))


def rewrite(model: bytes, recipe, ranges: dict[str, dict[str, np.ndarray]]) -> bytes:
    """The file as ai-edge-quantizer's recipe manager says. ranges: `min` and `max` of tensors by name, arrays of the tensor's rank.

    The parts of its `Quantizer` that work, without its check of the ranges, which runs the float model and so holds it twice more.
    """
    from ai_edge_quantizer.model_modifier import ModelModifier
    from ai_edge_quantizer.params_generator import ParamsGenerator
    from ai_edge_quantizer.utils.tfl_flatbuffer_utils import read_model

    content = read_model(memoryview(model))
    with quiet():
        found = ParamsGenerator(content).generate_quantization_parameters(recipe, ranges, False)
        return bytes(ModelModifier(content).modify_model(found, enable_progress_bar=False))


def _with_tables_of(rank: int, model: bytes) -> bytes:
    """The file whose tables that are looked up along their second axis, (1, rows, H), have so many dimensions: 2 for ai-edge-quantizer,
    which takes no others above 32 MiB (0.10), 3 as they are. The values stay where they are."""
    content = unpack(model)
    (graph,), kinds = content.subgraphs, operator_kinds(content)
    changed = False
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "GATHER" and operator.builtinOptions.axis == 1:
            table = graph.tensors[operator.inputs[0]]
            changed |= len(table.shape) != rank
            table.shape = np.array(((1,) * rank + tuple(table.shape[-2:]))[-rank:], np.int32)
    return pack(content) if changed else model


def _ranges(dense) -> list[tuple]:
    """What a dense reads and writes, a pair of ranges for each of its calls."""
    if not dense.input_quantizer.ranges:
        return [(None, None)] * dense.input_quantizer.num_calls
    sides = (
        [tuple(map(float, bounds)) for bounds in point.ranges]
        for point in (dense.input_quantizer, dense.output_quantizer)
    )
    return list(zip(*sides, strict=True))


def table_gathers(graph: FloatGraph, tables: list[np.ndarray]):
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


def matched(graph: FloatGraph, plans: list[DensePlan]):
    """Each dense of the graph with its plan, by the kernel's contents; equal kernels are taken in the order of the graph."""
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
