"""A float `.tflite` to one that computes in integers throughout: int32 ids in, int8 between, the result back in float32.

For processors without floating point. Softmax, norms and activations are in 8 bits too, which NoNorm and ReLU (MobileBERT) bear and a
LayerNorm hardly does: a static file (`quantize_file`) keeps those in float. The rewriting of the file is ai-edge-quantizer's.
"""

import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.flatbuffer import operator_kinds, pack, unpack
from kerasbert.export.float_graph import FloatGraph
from kerasbert.export.quantize_file import DensePlan, matched, rewrite, table_gathers
from kerasbert.export.quiet import quiet
from kerasbert.export.targets import Target
from kerasbert.export.tied_tables import share
from kerasbert.export.trace import SIGNATURE

# What is added to the scores of padding. In 8 bits it shares one range with the scores themselves, and -1e4 would leave all of them one
# value; exp(-40) is nothing in any number format, also where scores differ by 20.
MASK_CONSTANT = -40.0

_VIEWS = ("RESHAPE", "TRANSPOSE", "STRIDED_SLICE")  # in 8 bits, what they write has the range of what they read
_IDENTITY = (-128.0, 127.0)  # the range in which an int8 value stands for itself


def calibration_rows(task, calibration, length: int | None) -> dict[str, np.ndarray]:
    """Calibration texts, or rows packed already, as the file's inputs; says what this model will lose by having no float at all."""
    from kerasbert.data.table import is_table
    from kerasbert.encoders.base import INPUT_NAMES, sublayers
    from kerasbert.layers.norms import LayerNorm
    from kerasbert.tasks.inputs import is_packed

    if norms := len(sublayers(task, LayerNorm)):
        print(
            f"note: {norms} LayerNorms are computed in 8 bits, which costs accuracy; MobileBERT's NoNorm is made for it",
            file=sys.stderr,
        )
    if not is_packed(calibration):
        longest = length or task.sequence_length
        texts = calibration.x if is_table(calibration) else calibration
        rows = task.asks.rows(task.asks.examples(texts), task.tokenizer, longest)
        packed = rows.pack(range(len(rows)), longest, task.config.pad_token_id)
        return {name: values.reshape(-1, longest) for name, values in packed.items()}
    if length is not None and np.shape(calibration["input_ids"])[1] != length:
        raise KerasBertError(
            f"expected calibration rows of {length} tokens, the file's length, received {np.shape(calibration['input_ids'])[1]}"
        )
    return {name: np.asarray(calibration[name], np.int32) for name in INPUT_NAMES}


def integer_target(target: Target) -> Target:
    """The target with a mask constant that an 8-bit range bears."""
    return replace(
        target,
        fixed=replace(target.fixed, mask_constant=MASK_CONSTANT),
        resizable=replace(target.resizable, mask_constant=MASK_CONSTANT),
    )


def integer_file(
    model: bytes, plans: list[DensePlan], tables: list[np.ndarray], packed: dict[str, np.ndarray]
) -> bytes:
    """The file with every operator in int8.

    packed: int32 rows of the file's inputs, (rows, length), that give every tensor its range; where a plan has trained ranges, or a table
    its grid, those stand instead.

    Raises KerasBertError when something would still be computed in float.
    """
    recipe = _recipe()
    ranges = _observed(model, recipe, packed) | _known(FloatGraph(model), plans, tables)
    content = unpack(share(rewrite(model, recipe, ranges), tables))
    _cast_to_int8(content)
    if left := _in_float(content):
        raise KerasBertError(
            f"expected every operator of an integer file in 8 bits, {len(left)} stay in float: "
            f"{', '.join(sorted(set(left)))}. Convert without integer_only"
        )
    return pack(content)


def _recipe():
    """Every operator static in 8 bits; the outputs are given in float."""
    from ai_edge_quantizer import qtyping, recipe_manager
    from ai_edge_quantizer.algorithm_manager import AlgorithmName

    recipe, names = recipe_manager.RecipeManager(), qtyping.TFLOperationName
    recipe.add_static_config(".*", names.ALL_SUPPORTED, 8, 8)
    recipe.add_quantization_config(".*", names.OUTPUT, algorithm_key=AlgorithmName.NO_QUANTIZE)
    return recipe


def _observed(model: bytes, recipe, packed: dict[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """The smallest and largest value of every tensor, by name."""
    from ai_edge_quantizer import calibrator
    from ai_edge_quantizer.utils.qsv_utils import min_max_update

    with quiet(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning: Enabling `experimental_preserve_all_tensors`")  # it is what we want
        worker = calibrator.Calibrator(model, num_threads=1, qsv_update_func=min_max_update)
        worker.calibrate({SIGNATURE: list(_rows(packed))}, recipe)
    return worker.get_model_qsvs()


def _rows(packed: dict[str, np.ndarray]) -> Iterable[dict[str, np.ndarray]]:
    """One row after the other, and the first one once more with half of its tokens masked: the mask's range must be seen, also where no
    row is shorter than the file."""
    for i in range(len(packed["input_ids"])):
        yield {name: values[i : i + 1] for name, values in packed.items()}
    first = {name: values[:1].copy() for name, values in packed.items()}
    first["attention_mask"][:, max(1, int(first["attention_mask"].sum()) // 2) :] = 0
    yield first


def _known(graph: FloatGraph, plans: list[DensePlan], tables: list[np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """The ranges that are not left to calibration: tables', trained ones of denses, and the attention mask's."""
    ranges = {}
    for operator, bounds in table_gathers(graph, tables):
        for tensor in (operator.inputs[0], operator.outputs[0]):
            ranges[graph.name(tensor)] = graph.bounds(tensor, *bounds)
    planned = [(operator, plan) for operator, plan in matched(graph, plans) if plan.reads is not None]
    # What a dense writes before the converter moved its bias behind it: not the tensor that training gave a range.
    without_bias = {operator.outputs[0] for operator, _ in planned if graph.lacks_bias(operator)}
    for operator, plan in planned:
        for tensor, bounds in ((operator.inputs[0], plan.reads), (operator.outputs[0], plan.writes)):
            if tensor in without_bias:
                continue
            for same in _with_sources(graph, tensor):
                ranges[graph.name(same)] = graph.bounds(same, *bounds)
    for operator in graph.operators("CAST"):
        tensor = operator.outputs[0]
        ranges[graph.name(tensor)] = graph.bounds(tensor, *_IDENTITY)
    return ranges


def _with_sources(graph: FloatGraph, tensor: int) -> list[int]:
    """The tensor, and what it is a view of as long as nothing else reads that: both have to have one range."""
    found = [tensor]
    while (producer := graph.producer(found[-1])) is not None and graph.kind(producer) in _VIEWS:
        if graph.readers(producer.inputs[0]) > 1:
            break
        found.append(producer.inputs[0])
    return found


def _cast_to_int8(content) -> None:
    """A cast of integers to float that is quantized at once casts to int8 instead.

    Where the 8-bit range is the identity (`_known` gives casts that one), the quantized value is the integer itself.
    """
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    casts = {operator.outputs[0]: operator for operator in graph.operators if kinds[operator.opcodeIndex] == "CAST"}
    for quantize in [operator for operator in graph.operators if kinds[operator.opcodeIndex] == "QUANTIZE"]:
        cast, written = casts.get(quantize.inputs[0]), graph.tensors[quantize.outputs[0]]
        if cast is None or not _is_identity(written):
            continue
        if sum(cast.outputs[0] in operator.inputs for operator in graph.operators) > 1:
            continue
        cast.outputs = quantize.outputs
        if cast.builtinOptions is not None:
            cast.builtinOptions.outDataType = written.type
        graph.operators.remove(quantize)


def _is_identity(tensor) -> bool:
    return list(tensor.quantization.scale) == [1.0] and list(tensor.quantization.zeroPoint) == [0]


def _in_float(content) -> list[str]:
    """The kinds of operators that read or write float, other than the last ones, which give the outputs."""
    from ai_edge_litert.schema_py_generated import TensorType

    graph, kinds = content.subgraphs[0], operator_kinds(content)
    found = []
    for operator in graph.operators:
        kind = kinds[operator.opcodeIndex]
        last = kind == "DEQUANTIZE" and all(tensor in graph.outputs for tensor in operator.outputs)
        tensors = operator.inputs if last else [*operator.inputs, *operator.outputs]
        if any(graph.tensors[tensor].type == TensorType.FLOAT32 for tensor in tensors if tensor >= 0):
            found.append(kind)
    return found
