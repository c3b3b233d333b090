"""The number formats of a file by its operators and tensors: the recipe that it has, whatever its metadata say."""

import math
from collections import Counter

from kerasbert.export.tflite.macs import operator_macs
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.structure import Operator, Subgraph

FP32, FP16, INT8 = "fp32", "fp16", "int8"
_DENSE = ("FULLY_CONNECTED", "CONV_2D", "BATCH_MATMUL")
_FLOATS = ("float32", "float16")
_STATIC = {
    "int8": "static_wi8_ai8",
    "uint8": "static_wi8_ai8",
    "int16": "static_wi8_ai16",
}  # by the type of activations
_DYNAMIC = {
    "int4": "dynamic_wi4_afp32",
    "uint4": "dynamic_wi4_afp32",
    "int2": "dynamic_wi4_afp32",
}  # by that of kernels
_STATIC_SHARE = 0.1
_STORED = {"float32": "float32", "float16": "float16"}  # by that of a constant behind DEQUANTIZE


def graph_recipe(file: ModelFile) -> str:
    """Return the recipe of a file by the types of inputs and kernels of its Dense layers.

    It is the recipe of most multiply-accumulates; a static one, where a tenth of them is static.

    Args:
        file: The file.
    """
    shares: Counter[str] = Counter()
    for graph in file.subgraphs:
        producers = {index: operator for operator in graph.operators for index in operator.outputs}
        for operator in graph.operators:
            recipe = _operator_recipe(operator, graph, producers)
            if recipe:
                shares[recipe] += max(operator_macs(operator, graph), 1)
    total = sum(shares.values())
    for recipe in dict.fromkeys(_STATIC.values()):  # such a recipe may leave many layers in another one
        if shares[recipe] > _STATIC_SHARE * total:
            return recipe
    if shares:
        return max(shares, key=lambda recipe: shares[recipe])
    stored = {tensor.dtype for graph in file.subgraphs for tensor in graph.tensors if tensor.constant}
    if "int8" in stored:  # tables alone, as of static vectors
        return "dynamic_wi8_afp32"
    return "float16" if "float16" in stored else "float32"


def arithmetic(file: ModelFile, floats: str = FP32) -> str:
    """Name the arithmetic of a file.

    Args:
        file: The file.
        floats: The format in which the device computes floats.
    """
    integers = has_floats = False
    for graph in file.subgraphs:
        for operator in graph.operators:
            types = [graph.tensors[index].dtype for index in (*operator.inputs[:2], *operator.outputs) if index >= 0]
            if operator.name in _DENSE and len(types) > 1 and types[1].removeprefix("u").startswith("int"):
                integers = True
            if operator.name not in ("QUANTIZE", "DEQUANTIZE") and any(
                graph.tensors[index].dtype in _FLOATS for index in operator.outputs
            ):
                has_floats = True
    return " and ".join([*([INT8] if integers else []), *([floats] if has_floats or not integers else [])])


def _operator_recipe(operator: Operator, graph: Subgraph, producers: dict[int, Operator]) -> str:
    """Return the recipe of a Dense layer; empty for other operators, and for products of two activations."""
    if operator.name not in _DENSE or len(operator.inputs) < 2 or -1 in operator.inputs[:2]:
        return ""
    left, right = (graph.tensors[index] for index in operator.inputs[:2])
    stored = _stored_type(operator.inputs[1], graph, producers)
    if not stored or math.prod(right.stored_shape) < 2:
        return ""
    if left.dtype in _STATIC:
        return _STATIC[left.dtype]
    if right.dtype in _FLOATS:
        return _STORED.get(stored, "weight_only_wi8")
    return _DYNAMIC.get(stored, "dynamic_wi8_afp32")


def _stored_type(index: int, graph: Subgraph, producers: dict[int, Operator]) -> str:
    """Return the type in which a constant is stored, also behind operators that only change its form; empty for an activation."""
    for _ in range(8):
        if graph.tensors[index].constant:
            return graph.tensors[index].dtype
        producer = producers.get(index)
        if producer is None or producer.name not in ("DEQUANTIZE", "TRANSPOSE", "RESHAPE", "CAST", "QUANTIZE"):
            return ""
        index = producer.inputs[0]
    return ""
