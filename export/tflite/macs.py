"""Multiply-accumulates of a file's matrix products."""

import math
from collections import Counter
from collections.abc import Iterator

from kerasbert.export.tflite.constants import BITS
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.structure import Operator, Subgraph, Tensor

_ORDER = ("embeddings", "attention projections", "attention products", "feed-forward", "bottlenecks", "other")
# Part of an encoder -> words in the names of its outputs; those of the converter hold the paths of the layers
_PARTS = {
    "attention projections": ("attention",),
    "feed-forward": ("feed_forward", "mlp"),
    "bottlenecks": ("bottleneck", "_output/"),  # the second of MobileBERT is the output of a layer
    "embeddings": ("embedding",),
}
_PRODUCTS = "attention products"  # of queries and keys, and of weights and values

_EIGHT_BITS_OR_LESS = {name for name, bits in BITS.items() if bits <= 8}


def count_macs(file: ModelFile) -> Counter[str]:
    """Counts multiply-accumulates by their arithmetic: `static`, `dynamic` or `float`."""
    macs: Counter[str] = Counter()
    for operator, graph, count in _matrix_products(file):
        left, right = (graph.tensors[index] for index in operator.inputs[:2])
        macs[_arithmetic(left, right)] += count
    return macs


def macs_by_part(file: ModelFile) -> dict[str, int]:
    """Count multiply-accumulates by part of the encoder: attention, feed-forward, and so on.

    Parts are found by the names of tensors. Products of poolers, heads and unknown names are `other`.
    """
    macs: Counter[str] = Counter()
    for operator, graph, count in _matrix_products(file):
        name = graph.tensors[operator.outputs[0]].name
        part = next((part for part, words in _PARTS.items() if any(word in name for word in words)), "other")
        macs[_PRODUCTS if part == "attention projections" and operator.name == "BATCH_MATMUL" else part] += count
    return {
        part: macs[part]
        for part in ("embeddings", "attention projections", _PRODUCTS, "feed-forward", "bottlenecks", "other")
        if macs[part]
    }


def _matrix_products(file: ModelFile) -> Iterator[tuple[Operator, Subgraph, int]]:
    for graph in file.subgraphs:
        for operator in graph.operators:
            if operator.custom or len(operator.inputs) < 2 or -1 in operator.inputs[:2] or not operator.outputs:
                continue
            if count := operator_macs(operator, graph):
                yield operator, graph, count


def operator_macs(operator: Operator, graph: Subgraph) -> int:
    """Count the multiply-accumulates of one call; 0 for an operator that is no matrix product."""
    left, right = (graph.tensors[index] for index in operator.inputs[:2])
    output = graph.tensors[operator.outputs[0]]
    if operator.name == "FULLY_CONNECTED" and len(right.stored_shape) == 2:
        return output.elements * right.stored_shape[1]
    if operator.name == "BATCH_MATMUL":
        return _matmul_macs(left, right, output)
    if operator.name == "CONV_2D" and len(right.stored_shape) == 4:
        return output.elements * (right.elements // max(right.stored_shape[0], 1))
    return 0


def _matmul_macs(left: Tensor, right: Tensor, output: Tensor) -> int:
    """Counts the multiply-accumulates of a BATCH_MATMUL.

    With M x K by K x N operands, left * right * output elements = (M K N)^2 times the batch, whatever the transpose flags are.
    """
    if not output.elements or any(len(tensor.stored_shape) < 2 for tensor in (left, right, output)):
        return 0
    left_size, right_size, output_size = (
        tensor.stored_shape[-2] * tensor.stored_shape[-1] for tensor in (left, right, output)
    )
    batch = output.elements // max(output_size, 1)
    return batch * math.isqrt(left_size * right_size * output_size)


def _arithmetic(left: Tensor, right: Tensor) -> str:
    if left.dtype in ("int8", "uint8", "int16") and right.dtype in _EIGHT_BITS_OR_LESS | {"int16"}:
        return "static"
    return "dynamic" if right.dtype in _EIGHT_BITS_OR_LESS else "float"
