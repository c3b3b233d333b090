"""The Edge TPU's forecast, and what is made of its compiler's words. The compiler is not to be had here: its part is played by a script."""

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kerasbert.export.backends import edge_tpu
from kerasbert.export.backends.edge_tpu import CompilerLog, forecast
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.structure import Operator, Subgraph, Tensor
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED

WHOLE = """Edge TPU Compiler version 16.0.384591198
Model compiled successfully in 1204 ms.
On-chip memory used for caching model parameters: 1.21MiB
Off-chip memory used for streaming uncached model parameters: 0.00B
Number of Edge TPU subgraphs: 1
Total number of operations: 13
Operation log: model_edgetpu.log

Operator                       Count      Status

ADD                            10         Mapped to Edge TPU
CONV_2D                        3          Mapped to Edge TPU
"""
PARTLY = WHOLE.replace("3          Mapped", "2          Mapped") + (
    "CONV_2D                        1          More than one subgraph is not supported\n"
    "GELU                           1          Operation not supported\n"
)
NEWER = """Edge TPU Compiler version 16.0.384591198
ERROR: Didn't find op for builtin opcode 'TRANSPOSE' version '6'.
Internal compiler error. Aborting!
"""


def chain(*names, dtype="int8"):
    """Operators that read each other's output; the first one reads the graph's input, the first operand of ADD is a constant."""
    data, tensors = np.ones(8, np.int8).tobytes(), [Tensor("one", "int8", (8,), (8,), 0, 8, None)]
    tensors.append(Tensor("x", dtype, (1, 4, 8), (1, 4, 8), 1, 0, None))
    operators = []
    for name in names:
        end = "float32" if name == "DEQUANTIZE" else "int8"
        tensors.append(Tensor(name, end, (1, 4, 8), (1, 4, 8), 1, 0, None))
        source = len(tensors) - 2
        operators.append(Operator(name, 1, False, (source, 0) if name == "ADD" else (source,), (len(tensors) - 1,)))
    return ModelFile(data, None, graphs=((Subgraph("main", tuple(tensors), tuple(operators)),), (), ((0, 8), (0, 0))))


def test_calls_after_an_unsupported_one_stay_on_the_cpu():
    found = forecast(chain("ADD", "GELU", "ADD", "ADD"))
    assert [verdict.unsupported_reason for verdict in found] == [
        None,
        "no such operator",
        *["behind GELU, which stays on the CPU"] * 2,
    ]


def test_a_float_input_is_quantized_on_the_cpu_and_the_rest_is_mapped():
    found = forecast(chain("QUANTIZE", "ADD", "DEQUANTIZE", dtype="float32"))
    assert [verdict.unsupported_reason is None for verdict in found] == [False, True, False]


def test_compiler_logs_are_parsed():
    assert CompilerLog.of(WHOLE) == CompilerLog(
        1, {("ADD", "Mapped to Edge TPU"): 10, ("CONV_2D", "Mapped to Edge TPU"): 3}, ""
    )
    partly = CompilerLog.of(PARTLY)
    assert partly.mapped == 12 and partly.operators["GELU", "Operation not supported"] == 1
    assert "Didn't find op for builtin opcode 'TRANSPOSE'" in CompilerLog.of(NEWER).error
    assert CompilerLog.of("").subgraphs is None


@pytest.fixture
def compile_with(tmp_path, monkeypatch):
    """Runs the compiler's check on a file with a script in the compiler's place that says this and leaves a file, or not."""

    def run(said: str, made: bool = True, status: int = 0):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        script = folder / edge_tpu.COMPILER
        left = 'touch "$3/model_edgetpu.tflite"' if made else ":"
        script.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\n{left}\nexit {status}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return edge_tpu._check_compiler(SimpleNamespace(model_path="model.tflite"), forecast(chain("ADD")), tmp_path)[0]

    return run


def test_a_fully_mapped_file_passes(compile_with):
    check = compile_with(WHOLE)
    assert check.status == PASSED and check.reason == "13 of 13 operators mapped, 1 of 1 forecast"
    check = compile_with(PARTLY)
    assert (
        check.status == FAILED and "12 of 14 operators mapped" in check.reason and "GELU: Operation not" in check.reason
    )


@pytest.mark.parametrize(
    "said, made, status, expected",
    [
        (NEWER, False, 1, "Didn't find op"),
        (WHOLE, False, 0, "exit code 0"),
        ("boom", False, 3, "exit code 3: boom"),
        (WHOLE.replace("subgraphs: 1", "subgraphs: 0"), True, 0, "13 of 13"),
    ],
)
def test_a_failed_or_partial_compilation_fails(compile_with, said, made, status, expected):
    check = compile_with(said, made, status)
    assert check.status == FAILED and expected in check.reason


def test_without_the_compiler_nothing_passes(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert edge_tpu._check_compiler(SimpleNamespace(model_path="x"), (), Path("x"))[0].status == NOT_RUN
    whole = edge_tpu._check_forecast(forecast(chain("ADD")))
    assert whole.status == NOT_RUN and "only the compiler proves" in whole.reason
    assert edge_tpu._check_forecast(forecast(chain("GELU"))).status == FAILED
