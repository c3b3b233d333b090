"""Tensors and operators that contradict each other. Every offset of such a file is right, yet a runtime crashes, hangs or fills memory."""

from kerasbert.export.tflite.structure import FileStructure, Operator, Quantization, Subgraph, Tensor

_BITS = {
    "int2": 2, "int4": 4, "uint4": 4, "int8": 8, "uint8": 8, "bool": 8, "int16": 16, "uint16": 16, "float16": 16, "bfloat16": 16,
    "float32": 32, "int32": 32, "uint32": 32, "float64": 64, "int64": 64, "uint64": 64, "complex64": 64, "complex128": 128,
}  # fmt: skip
_ZEROS = {
    "int2": (-2, 1),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
}
_INPUTS = {  # how many an operator has, at least and at most; kernels read the least without looking
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
_OF_TEXTS = {  # builtin operators that take or give texts
    "EQUAL", "NOT_EQUAL", "EXPAND_DIMS", "GATHER", "GATHER_ND", "RESHAPE", "SHAPE", "SLICE", "STRIDED_SLICE", "TILE", "UNPACK", "SELECT_V2",
    "FILL", "BROADCAST_TO", "SQUEEZE",
}  # fmt: skip
_WITHOUT_SIZE = {"string", "resource", "variant"}
_MOST_AXES = 8  # arrays of kernels have room for no more
_MOST_BYTES = 1 << 32  # of one tensor


def fault_of(file: FileStructure) -> str:
    """The first contradiction in a file's graphs, in words; empty for a file without one."""
    for graph in file.subgraphs:
        if wrong := _fault_of_tensors(graph) or _fault_of_order(graph):
            return wrong
    for signature in file.signatures:
        graph = file.subgraphs[signature.subgraph]
        if not set(signature.inputs.values()) <= set(graph.inputs):
            return f"a signature {signature.name!r} with an input that its graph does not have"
        if not set(signature.outputs.values()) <= set(graph.outputs):
            return f"a signature {signature.name!r} with an output that its graph does not have"
    return ""


def _fault_of_tensors(graph: Subgraph) -> str:
    for number, tensor in enumerate(graph.tensors):
        if wrong := _fault_of(tensor):
            return f"tensor {number} with {wrong}"
    return ""


def _fault_of(tensor: Tensor) -> str:
    if len(tensor.stored_shape) > _MOST_AXES:
        return f"the shape {tensor.stored_shape}"
    if tensor.shape != tensor.stored_shape and (
        len(tensor.shape) != len(tensor.stored_shape)
        or any(open_ not in (-1, size) for open_, size in zip(tensor.shape, tensor.stored_shape, strict=True))
    ):
        return f"the shapes {tensor.stored_shape} and {tensor.shape}"
    if tensor.dtype in _WITHOUT_SIZE:
        return ""
    if tensor.dtype not in _BITS:
        return f"the unknown type {tensor.dtype}"
    size = -(-tensor.elements * _BITS[tensor.dtype] // 8)
    if size > _MOST_BYTES:
        return f"the shape {tensor.stored_shape}, {size:,} bytes"
    if tensor.constant and not tensor.sparse and tensor.nbytes != size:
        return f"{tensor.nbytes:,} bytes for {tensor.dtype}{list(tensor.stored_shape)}, {size:,} bytes"
    return _fault_of_scales(tensor, tensor.quantization) if tensor.quantization else ""


def _fault_of_scales(tensor: Tensor, found: Quantization) -> str:
    shape, (least, most) = tensor.stored_shape, _ZEROS.get(tensor.dtype, (-(1 << 31), (1 << 31) - 1))
    if found.zeros[0] < least or found.zeros[1] > most:
        return f"a zero point outside {least}..{most} for {tensor.dtype}"
    if not found.sound:
        return "a scale that is negative or no number"
    if found.zero_points != found.scales:
        return f"{found.scales} scales and {found.zero_points} zero points"
    if found.per_channel and not (0 <= found.axis < len(shape) and found.scales == shape[found.axis]):
        return f"{found.scales} scales along axis {found.axis} of {list(shape)}"
    return ""


def _texts(graph: Subgraph, operator: Operator) -> bool:
    ends = (*operator.inputs, *operator.outputs)
    return any(tensor >= 0 and graph.tensors[tensor].dtype in _WITHOUT_SIZE for tensor in ends)


def _fault_of_order(graph: Subgraph) -> str:
    """Whether every operator reads what is there before it, and writes what nothing else does."""
    fixed = {number for number, tensor in enumerate(graph.tensors) if tensor.constant}
    filled = set(graph.inputs)
    if filled & fixed:
        return f"a constant, tensor {min(filled & fixed)}, as an input"
    empty = {number for number, tensor in enumerate(graph.tensors) if tensor.variable or not tensor.elements}
    known = fixed | filled | empty
    written: set[int] = set(filled)
    for operator in graph.operators:
        least, most = _INPUTS.get(operator.name, (0, len(operator.inputs)))
        if not least <= len(operator.inputs) <= most:
            return f"an operator {operator.name} of {len(operator.inputs)} inputs"
        if operator.name in _INPUTS.keys() - _OF_TEXTS and not operator.custom and _texts(graph, operator):
            return f"an operator {operator.name} of texts"
        for tensor in operator.inputs:
            if tensor >= 0 and tensor not in known:
                return f"an operator {operator.name} that reads tensor {tensor} before it is written"
        for tensor in operator.outputs:
            if tensor < 0:
                continue
            if tensor in fixed or tensor in written:
                return f"an operator {operator.name} that writes tensor {tensor}, which has values already"
            written.add(tensor)
            known.add(tensor)
    missing = [tensor for tensor in graph.outputs if tensor not in known]
    return f"an output, tensor {missing[0]}, that nothing writes" if missing else ""
