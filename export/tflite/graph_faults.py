"""Finds tensors and operators that contradict each other.

Every offset of such a file is valid, yet a runtime crashes, hangs or fills the memory.
"""

from collections.abc import Iterable, Sequence

from kerasbert.export.tflite.structure import Operator, Quantization, Signature, Subgraph, Tensor

BITS = {
    "int2": 2, "int4": 4, "uint4": 4, "int8": 8, "uint8": 8, "bool": 8, "int16": 16, "uint16": 16, "float16": 16, "bfloat16": 16,
    "float32": 32, "int32": 32, "uint32": 32, "float64": 64, "int64": 64, "uint64": 64, "complex64": 64, "complex128": 128,
}  # fmt: skip
ZERO_POINTS = {  # the smallest and the largest of each type
    "int2": (-2, 1),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
}
INPUTS = {  # the least and the most inputs of each operator; kernels read the least without checking
    "ABS": (1, 1), "ADD": (2, 2), "ARG_MAX": (2, 2), "ARG_MIN": (2, 2), "BATCH_MATMUL": (2, 2), "BROADCAST_TO": (2, 2), "CAST": (1, 1),
    "CONV_2D": (2, 3), "CUMSUM": (2, 2), "DEPTHWISE_CONV_2D": (2, 3), "DEQUANTIZE": (1, 1), "DIV": (2, 2), "EMBEDDING_LOOKUP": (2, 2),
    "EQUAL": (2, 2), "EXP": (1, 1), "EXPAND_DIMS": (2, 2), "FILL": (2, 2), "FULLY_CONNECTED": (2, 3), "GATHER": (2, 2),
    "GATHER_ND": (2, 2), "GELU": (1, 1), "GREATER": (2, 2), "GREATER_EQUAL": (2, 2), "LESS": (2, 2), "LESS_EQUAL": (2, 2), "LOG": (1, 1),
    "LOGISTIC": (1, 1), "MAXIMUM": (2, 2), "MEAN": (2, 2), "MINIMUM": (2, 2), "MUL": (2, 2), "NEG": (1, 1), "NOT_EQUAL": (2, 2),
    "ONE_HOT": (4, 4), "PAD": (2, 2), "PADV2": (3, 3), "POW": (2, 2), "QUANTIZE": (1, 1), "RANGE": (3, 3), "RELU": (1, 1), "RELU6": (1, 1),
    "RESHAPE": (1, 2), "REDUCE_MAX": (2, 2), "REDUCE_MIN": (2, 2), "RSQRT": (1, 1), "SELECT_V2": (3, 3), "SHAPE": (1, 1), "SLICE": (3, 3),
    "SOFTMAX": (1, 1), "SPLIT": (2, 2), "SQRT": (1, 1), "SQUARE": (1, 1), "SQUARED_DIFFERENCE": (2, 2), "SQUEEZE": (1, 1),
    "STRIDED_SLICE": (4, 5), "SUB": (2, 2), "SUM": (2, 2), "TANH": (1, 1), "TILE": (2, 2), "TOPK_V2": (2, 2), "TRANSPOSE": (2, 2),
    "UNPACK": (1, 1),
}  # fmt: skip
STRING_OPERATORS = {  # builtin operators that also work on strings
    "EQUAL", "NOT_EQUAL", "EXPAND_DIMS", "GATHER", "GATHER_ND", "RESHAPE", "SHAPE", "SLICE", "STRIDED_SLICE", "TILE", "UNPACK", "SELECT_V2",
    "FILL", "BROADCAST_TO", "SQUEEZE",
}  # fmt: skip
WITHOUT_SIZE = {"string", "resource", "variant"}
_MOST_AXES = 8  # the length of the kernels' arrays
_MOST_BYTES = 1 << 32  # of one tensor


def find_fault(subgraphs: tuple[Subgraph, ...], signatures: Iterable[Signature]) -> str:
    """Describe the first contradiction in a file's graphs; empty for a file without one."""
    for graph in subgraphs:
        if fault := _tensors_fault(graph) or _operators_fault(graph) or _order_fault(graph):
            return fault
    for signature in signatures:
        graph = subgraphs[signature.subgraph]
        if not set(signature.inputs.values()) <= set(graph.inputs):
            return f"a signature {signature.name!r} with an input that its graph does not have"
        if not set(signature.outputs.values()) <= set(graph.outputs):
            return f"a signature {signature.name!r} with an output that its graph does not have"
    return ""


def _tensors_fault(graph: Subgraph) -> str:
    for number, tensor in enumerate(graph.tensors):
        if fault := _tensor_fault(tensor) or _blocks_fault(tensor, graph.tensors):
            return f"tensor {number} with {fault}"
    return ""


def _tensor_fault(tensor: Tensor) -> str:
    if len(tensor.stored_shape) > _MOST_AXES:
        return f"the shape {tensor.stored_shape}"
    if tensor.shape != tensor.stored_shape and (
        len(tensor.shape) != len(tensor.stored_shape)
        or any(axis not in (-1, size) for axis, size in zip(tensor.shape, tensor.stored_shape, strict=True))
    ):
        return f"the shapes {tensor.stored_shape} and {tensor.shape}"
    if tensor.dtype in WITHOUT_SIZE:
        return ""
    if tensor.dtype not in BITS:
        return f"the unknown type {tensor.dtype}"
    size = -(-tensor.elements * BITS[tensor.dtype] // 8)
    if size > _MOST_BYTES:
        return f"the shape {tensor.stored_shape}, {size:,} bytes"
    if tensor.constant and not tensor.sparse and tensor.nbytes != size:
        return f"{tensor.nbytes:,} bytes for {tensor.dtype}{list(tensor.stored_shape)}, {size:,} bytes"
    return _quantization_fault(tensor, tensor.quantization) if tensor.quantization else ""


def _quantization_fault(tensor: Tensor, quantization: Quantization) -> str:
    shape, scales, axis = tensor.stored_shape, quantization.scales, quantization.axis
    least, most = ZERO_POINTS.get(tensor.dtype, (-(1 << 31), (1 << 31) - 1))
    if quantization.zeros[0] < least or quantization.zeros[1] > most:
        return f"a zero point outside {least}..{most} for {tensor.dtype}"
    if not quantization.sound:
        return "a scale that is negative or no number"
    if quantization.zero_points != scales:
        return f"{scales} scales and {quantization.zero_points} zero points"
    if quantization.per_channel and not (0 <= axis < len(shape) and scales == shape[axis]):
        return f"{scales} scales along axis {axis} of {list(shape)}"
    return ""


def _blocks_fault(tensor: Tensor, tensors: Sequence[Tensor]) -> str:
    """Describe scales of blocks that do not fit a tensor `(channels, inputs)`: a runtime reads them without checking."""
    found = tensor.quantization
    if found is None or (found.block == 0 and found.block_scales == -1):
        return ""
    inputs = tensor.stored_shape[-1] if len(tensor.stored_shape) == 2 else 0
    if found.block < 1 or not inputs or inputs % found.block:
        return f"scales of blocks of {found.block} values of {list(tensor.stored_shape)}"
    if not 0 <= found.block_scales < len(tensors):
        return f"scales in tensor {found.block_scales} of {len(tensors)}"
    scales = tensors[found.block_scales]
    if scales.dtype != "float16" or not scales.constant or scales.elements * found.block != tensor.elements:
        return f"{scales.elements} scales of {scales.dtype} for {tensor.elements} values in blocks of {found.block}"
    return ""


def _operators_fault(graph: Subgraph) -> str:
    """Describe the first operator with a wrong number of inputs, or with strings that it does not take."""
    for operator in graph.operators:
        least, most = INPUTS.get(operator.name, (0, len(operator.inputs)))
        if not least <= len(operator.inputs) <= most:
            return f"an operator {operator.name} of {len(operator.inputs)} inputs"
        takes_no_strings = operator.name in INPUTS.keys() - STRING_OPERATORS and not operator.custom
        if takes_no_strings and _has_strings(graph, operator):
            return f"an operator {operator.name} of texts"
    return ""


def _has_strings(graph: Subgraph, operator: Operator) -> bool:
    tensors = (*operator.inputs, *operator.outputs)
    return any(tensor >= 0 and graph.tensors[tensor].dtype in WITHOUT_SIZE for tensor in tensors)


def _order_fault(graph: Subgraph) -> str:
    """Describe the first tensor that is read before it has values, or written twice."""
    constants = {number for number, tensor in enumerate(graph.tensors) if tensor.constant}
    written = set(graph.inputs)
    if written & constants:
        return f"a constant, tensor {min(written & constants)}, as an input"
    empty = {number for number, tensor in enumerate(graph.tensors) if tensor.variable or not tensor.elements}
    readable = constants | written | empty
    for operator in graph.operators:
        for tensor in operator.inputs:
            if tensor >= 0 and tensor not in readable:
                return f"an operator {operator.name} that reads tensor {tensor} before it is written"
        for tensor in operator.outputs:
            if tensor < 0:
                continue
            if tensor in constants or tensor in written:
                return f"an operator {operator.name} that writes tensor {tensor}, which has values already"
            written.add(tensor)
            readable.add(tensor)
    missing = [tensor for tensor in graph.outputs if tensor not in readable]
    return f"an output, tensor {missing[0]}, that nothing writes" if missing else ""
