"""Rules that tell what a backend takes: one call each, made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from kerasbert.export.backends.rules.edge_tpu import EDGE_TPU
from kerasbert.export.backends.rules.gpu import LITERT_GPU
from kerasbert.export.backends.rules.gpu_opencl import GPU_OPENCL
from kerasbert.export.backends.rules.operator_rules import (
    Call,
    OperatorVerdict,
    operator_verdicts,
    operators_by_backend,
    summarize,
)
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.structure import Operator, Subgraph, Tensor


def file(*calls) -> ModelFile:
    """A graph of calls `(name, version, inputs, outputs, options)`; an input or output is (dtype, shape), a constant a NumPy array."""
    tensors, operators, data, spans = [], [], b"", []

    def add(given) -> int:
        nonlocal data
        constant = isinstance(given, np.ndarray)
        dtype, shape = (str(given.dtype), given.shape) if constant else given
        spans.append((len(data), given.nbytes if constant else 0))
        data += given.tobytes() if constant else b""
        tensors.append(Tensor(f"t{len(tensors)}", dtype, shape, shape, len(spans) - 1, spans[-1][1], None))
        return len(tensors) - 1

    for name, version, inputs, outputs, options in calls:
        places = {id(given): add(given) for given in inputs}
        operators.append(
            Operator(
                name,
                version,
                False,
                tuple(places[id(given)] for given in inputs),
                tuple(map(add, outputs)),
                options,
            )
        )
    return ModelFile(data, None, graphs=((Subgraph("main", tuple(tensors), tuple(operators)),), (), tuple(spans)))


def refusal(table, name: str, inputs, outputs, version: int = 1, **options) -> str | None:
    made = file((name, version, inputs, outputs, options))
    return table.unsupported_reason(Call(made, made.subgraphs[0], made.subgraphs[0].operators[0]))


def int8(*shape):
    return "int8", shape


def real(*shape):
    return "float32", shape


def ints(*values):
    return np.array(values, np.int32)


KERNEL, BIAS = np.ones((8, 4), np.int8), np.zeros(8, np.int32)


@pytest.mark.parametrize(
    "name, inputs, outputs, options",
    [
        ("ADD", [int8(1, 16, 8), int8(1, 16, 8)], [int8(1, 16, 8)], {}),
        ("MUL", [int8(1, 1, 16, 8), np.ones(8, np.int8)], [int8(1, 1, 16, 8)], {}),
        ("FULLY_CONNECTED", [int8(1, 4), KERNEL, BIAS], [int8(1, 8)], {"weights_format": 0}),
        (
            "CONV_2D",
            [int8(1, 1, 16, 4), np.ones((8, 1, 1, 4), np.int8), BIAS],
            [int8(1, 1, 16, 8)],
            {"dilation_w_factor": 1, "dilation_h_factor": 1},
        ),
        ("MEAN", [int8(1, 16, 8), ints(2)], [int8(1, 16)], {}),
        ("SOFTMAX", [int8(1, 1, 64)], [int8(1, 1, 64)], {"beta": 1.0}),
        (
            "STRIDED_SLICE",
            [int8(1, 16, 8), ints(0, 0, 0), ints(0, 1, 0), ints(1, 1, 1)],
            [int8(1, 1, 8)],
            {"begin_mask": 7},
        ),
    ],
)
def test_edge_tpu_supports(name, inputs, outputs, options):
    assert refusal(EDGE_TPU, name, inputs, outputs, **options) is None


@pytest.mark.parametrize(
    "name, inputs, outputs, options, reason",
    [
        ("GELU", [int8(1, 16, 8)], [int8(1, 16, 8)], {}, "no such operator"),
        ("GATHER", [np.ones((9, 8), np.int8), ("int32", (16,))], [int8(16, 8)], {}, "no such operator"),
        ("BATCH_MATMUL", [int8(1, 16, 8), int8(1, 8, 16)], [int8(1, 16, 16)], {}, "no such operator"),
        ("ADD", [real(1, 16, 8), real(1, 16, 8)], [real(1, 16, 8)], {}, "works on float32"),
        ("ADD", [int8(1, -1, 8), int8(1, -1, 8)], [int8(1, -1, 8)], {}, "not fixed"),
        ("ADD", [int8(2, 12, 16, 16), int8(2, 12, 16, 16)], [int8(2, 12, 16, 16)], {}, "more than three dimensions"),
        ("TRANSPOSE", [int8(1, 16, 8), ints(0, 2, 1)], [int8(1, 8, 16)], {"version": 6}, "version 6 is newer"),
        ("FULLY_CONNECTED", [int8(1, 16, 4), KERNEL, BIAS], [int8(1, 16, 8)], {}, "not of one dimension"),
        ("FULLY_CONNECTED", [int8(1, 4), int8(8, 4), BIAS], [int8(1, 8)], {}, "weights that are computed"),
        (
            "CONV_2D",
            [int8(1, 1, 16, 4), np.ones((8, 1, 1, 4), np.int8), BIAS],
            [int8(1, 1, 16, 8)],
            {"dilation_w_factor": 2, "dilation_h_factor": 1},
            "two dilations",
        ),
        ("SOFTMAX", [int8(1, 4, 64)], [int8(1, 4, 64)], {}, "not of one dimension"),
        ("SOFTMAX", [int8(1, 20_000)], [int8(1, 20_000)], {}, "20,000 elements"),
        ("MEAN", [int8(1, 16, 6), ints(2)], [int8(1, 16)], {}, "no multiple of 4"),
        ("MEAN", [int8(2, 16, 8), ints(0)], [int8(16, 8)], {}, "over the batch"),
        ("PAD", [int8(1, 4, 8), np.array([[1, 0], [0, 0], [0, 0]], np.int32)], [int8(2, 4, 8)], {}, "of the batch"),
        ("STRIDED_SLICE", [int8(1, 4, 8), ints(0, 0, 0), ints(1, 4, 8), ints(1, 2, 1)], [int8(1, 2, 8)], {}, "strides"),
        ("STRIDED_SLICE", [int8(4, 8), ints(0), ints(0), ints(1)], [int8(1, 4, 8)], {"new_axis_mask": 1}, "new_axis_mask"),
        ("CONCATENATION", [int8(1, 4), int8(1, 4)], [int8(1, 8)], {"fused_activation_function": "RELU"}, "fused RELU"),
    ],
)  # fmt: skip
def test_edge_tpu_does_not_support(name, inputs, outputs, options, reason):
    assert reason in refusal(EDGE_TPU, name, inputs, outputs, **options)


@pytest.mark.parametrize(
    "name, inputs, outputs, options",
    [
        ("GATHER", [np.ones((9, 8), np.float32), ("int32", (16,))], [real(16, 8)], {}),
        ("GELU", [real(1, 16, 8)], [real(1, 16, 8)], {}),
        ("ADD", [real(1, 4, 16, 16), real(1, 1, 1, 16)], [real(1, 4, 16, 16)], {}),
        ("ADD", [real(1, 16, 8), np.ones((16, 8), np.float32)], [real(1, 16, 8)], {}),
        ("BATCH_MATMUL", [real(1, 4, 16, 8), real(1, 4, 8, 16)], [real(1, 4, 16, 16)], {}),
        ("CAST", [("int32", (1, 16))], [real(1, 16)], {}),
        ("SOFTMAX", [real(1, 4, 16, 16)], [real(1, 4, 16, 16)], {"beta": 1.0}),
    ],
)
def test_gpu_delegate_supports(name, inputs, outputs, options):
    assert refusal(GPU_OPENCL, name, inputs, outputs, **options) is None


SAME = real(1, 16, 8)


@pytest.mark.parametrize(
    "name, inputs, outputs, options, reason",
    [
        ("GATHER", [np.ones((9, 8), np.float32), ("int32", (1, 16))], [real(1, 16, 8)], {}, "indices of rank 2"),
        ("GATHER", [np.ones((9, 8), np.int8), ("int32", (16,))], [int8(16, 8)], {"version": 2}, "version 2, above 1"),
        ("FULLY_CONNECTED", [real(1, 4), KERNEL], [real(1, 8)], {"version": 12}, "version 12, above 9"),
        ("STRIDED_SLICE", [real(1, 4, 8), ints(0), ints(1), ints(1)], [real(1, 8)], {"shrink_axis_mask": 2}, "shrink_axis_mask"),
        ("EMBEDDING_LOOKUP", [("int32", (16,)), real(9, 8)], [real(16, 8)], {}, "no such operator"),
        ("ADD", [real(1, 16, 8), real(16, 8)], [real(1, 16, 8)], {}, "broadcasting of [1, 16, 8] and [16, 8]"),
        ("ADD", [("int32", (1, 16)), ints(1)], [("int32", (1, 16))], {}, "works on int32"),
        ("CAST", [("int32", (1, 16))], [("int64", (1, 16))], {}, "gives int64"),
        ("BATCH_MATMUL", [SAME, SAME], [real(1, 16, 16)], {}, "the same tensor twice"),
        ("BATCH_MATMUL", [SAME, np.ones((1, 8, 4), np.float32)], [real(1, 16, 4)], {}, "rank 3, not 2"),
        ("TRANSPOSE", [real(1, 2, 3, 4, 5), ints(0)], [real(1, 2, 3, 4, 5)], {}, "rank 5"),
        ("MEAN", [SAME, ("int32", (1,))], [real(1, 16)], {}, "int32"),
        ("SOFTMAX", [SAME], [SAME], {"beta": 0.5}, "beta"),
        ("ADD", [real(1, -1, 8), real(1, -1, 8)], [real(1, -1, 8)], {}, "not fixed"),
    ],
)  # fmt: skip
def test_gpu_delegate_does_not_support(name, inputs, outputs, options, reason):
    assert reason in refusal(GPU_OPENCL, name, inputs, outputs, **options)


def test_verdicts_are_summarized():
    x = real(1, 16, 8)
    made = file(("GELU", 1, [x], [x], {}), ("ERF", 1, [x], [x], {}), ("ERF", 1, [x], [x], {}))
    found = operator_verdicts(made, GPU_OPENCL)
    assert found == (
        OperatorVerdict(0, "GELU", None),
        OperatorVerdict(1, "ERF", "no such operator"),
        OperatorVerdict(2, "ERF", "no such operator"),
    )
    assert summarize(found) == "2 ERF: no such operator"
    assert operators_by_backend(found, "gpu", "cpu") == {"gpu": {"GELU": 1}, "cpu": {"ERF": 2}}


IDS, TABLE = ("int32", (16,)), np.ones((1, 9, 8), np.float32)


@pytest.mark.parametrize(
    "name, inputs, outputs, options, reason",
    [
        ("GATHER", [TABLE, IDS], [real(1, 16, 8)], {}, None),
        ("GATHER", [TABLE, ("int32", (1, 16))], [real(1, 1, 16, 8)], {}, "indices of rank 2"),
        ("GATHER", [TABLE[0], IDS], [real(16, 8)], {}, "become a batch"),
        ("GATHER", [TABLE.astype(np.float16), IDS], [real(1, 16, 8)], {}, "16 bits"),
        ("STRIDED_SLICE", [real(1, 4, 8), ints(0), ints(1), ints(1)], [real(1, 8)], {"shrink_axis_mask": 2}, "shrink"),
        ("FULLY_CONNECTED", [real(1, 16, 4), KERNEL, BIAS], [real(1, 16, 8)], {}, None),
        ("FULLY_CONNECTED", [("int16", (1, 16, 4)), KERNEL, BIAS], [("int16", (1, 16, 8))], {}, "16-bit integers"),
        ("L2_NORMALIZATION", [real(1, 8)], [real(1, 8)], {}, "not taken"),
        ("LOG", [real(1, 8)], [real(1, 8)], {}, "not tried"),
        ("ADD", [real(1, -1, 8), real(1, -1, 8)], [real(1, -1, 8)], {}, "not fixed"),
    ],
)
def test_litert_gpu_rules(name, inputs, outputs, options, reason):
    found = refusal(LITERT_GPU, name, inputs, outputs, **options)
    assert found is None if reason is None else reason in found


def test_litert_gpu_does_not_support_a_tensor_twice():
    states = real(1, 16, 8)
    assert refusal(LITERT_GPU, "MUL", [states, states], [states]) == "the same tensor twice"


@pytest.mark.parametrize("dtype, reason", [("int8", "a kernel of int8 that a DEQUANTIZE widens"), ("float16", "")])
def test_litert_gpu_does_not_support_widened_int8_kernels(dtype, reason):
    made = file(
        ("DEQUANTIZE", 1, [np.ones((8, 4), dtype)], [real(8, 4)], {}),
        ("FULLY_CONNECTED", 1, [real(1, 16, 4), real(8, 4)], [real(1, 16, 8)], {}),
    )
    graph = made.subgraphs[0]
    widened, dense = graph.operators
    dense = replace(dense, inputs=(dense.inputs[0], widened.outputs[0]))
    made = replace(made, graphs=((replace(graph, operators=(widened, dense)),), (), made.spans))
    assert reason in summarize(operator_verdicts(made, LITERT_GPU)) and bool(
        summarize(operator_verdicts(made, LITERT_GPU))
    ) is bool(reason)
