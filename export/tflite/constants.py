"""Constants of a file: their role in the model, their parameters and their bytes."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.structure import Operator, Subgraph

EMBEDDINGS, DENSE, OTHER = "embeddings", "dense kernels", "biases, norms, constants"
OVERHEAD, PACKED = "graph", "packed files"
TABLE_INPUT = {"GATHER": 0, "EMBEDDING_LOOKUP": 1, "GATHER_ND": 0}  # which input of an operator is a table
_KERNEL_INPUT = {"FULLY_CONNECTED": 1, "CONV_2D": 1, "DEPTHWISE_CONV_2D": 1}
_BIAS_INPUT = 2
# A constant keeps its role behind these: a float16 file stores kernels behind DEQUANTIZE, a tied table may be transposed.
_TRANSPARENT = {"DEQUANTIZE", "TRANSPOSE", "RESHAPE", "CAST", "QUANTIZE"}
BITS = {
    "int2": 2,
    "int4": 4,
    "uint4": 4,
    "int8": 8,
    "uint8": 8,
    "int16": 16,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
}


@dataclass(frozen=True)
class Weight:
    """A trained constant: its number of elements, and the bits of each."""

    elements: int
    bits: int


def constant_roles(file: ModelFile) -> dict[int, str]:
    """Return the role of each buffer with a constant, by the operators that use it.

    A table that is also a kernel counts as embeddings.
    """
    roles: dict[int, str] = {}
    for graph in file.subgraphs:
        users = defaultdict(list)
        for operator in graph.operators:
            for position, tensor in enumerate(operator.inputs):
                users[tensor].append((operator, position))
        for index, tensor in enumerate(graph.tensors):
            if tensor.constant:
                role = _role(index, users)
                if roles.get(tensor.buffer) != EMBEDDINGS and (role != OTHER or tensor.buffer not in roles):
                    roles[tensor.buffer] = role
    return roles


def _role(constant: int, users: Mapping[int, list[tuple[Operator, int]]]) -> str:
    """Return the role of a constant. `users`: the operators that read each tensor, with the position among their inputs."""
    role, pending, seen = OTHER, [constant], set()
    while pending:
        tensor = pending.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        for operator, position in users[tensor]:
            if TABLE_INPUT.get(operator.name) == position:
                return EMBEDDINGS
            if _KERNEL_INPUT.get(operator.name) == position or operator.name == "BATCH_MATMUL":
                role = DENSE
            elif operator.name in _TRANSPARENT and position == 0:
                pending.extend(operator.outputs)
    return role


def table_rows(file: ModelFile) -> set[int]:
    """Return the numbers of rows of the embedding tables, in whatever format they are stored."""
    roles = constant_roles(file)
    return {
        tensor.stored_shape[0]
        for graph in file.subgraphs
        for tensor in graph.tensors
        if tensor.constant and tensor.stored_shape and roles[tensor.buffer] == EMBEDDINGS
    }


def trained_weights(file: ModelFile, roles: Mapping[int, str]) -> dict[int, Weight]:
    """Return the trained constants by buffer. Scalars and index constants are not trained."""
    weights = {}
    for graph in file.subgraphs:
        biases = _biases(graph)
        for index, tensor in enumerate(graph.tensors):
            if not tensor.constant:
                continue
            is_number = tensor.dtype in BITS and (tensor.elements > 1 or roles[tensor.buffer] == DENSE)
            if is_number or index in biases:
                weights[tensor.buffer] = Weight(tensor.elements, BITS.get(tensor.dtype, 32))
    return weights


def _biases(graph: Subgraph) -> set[int]:
    return {
        operator.inputs[_BIAS_INPUT]
        for operator in graph.operators
        if operator.name in _KERNEL_INPUT and len(operator.inputs) > _BIAS_INPUT
    }


def size_by_part(file: ModelFile, roles: Mapping[int, str], packed_bytes: int) -> dict[str, int]:
    """Return bytes by the role of constants, with the graph and the packed files as parts of their own."""
    sizes = Counter({part: 0 for part in (EMBEDDINGS, DENSE, OTHER)})
    for buffer, role in roles.items():
        sizes[role] += file.spans[buffer][1]
    overhead = file.size - packed_bytes - sum(sizes.values())
    return {**sizes, OVERHEAD: overhead, PACKED: packed_bytes}
