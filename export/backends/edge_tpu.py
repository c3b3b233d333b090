"""The Edge TPU: a forecast by rules, the body on a CPU's reference kernels, and the compiler and the device where they are installed.

Coral's compiler is closed, and in no package registry; a forecast is no proof, so without the compiler no check of the device passes.
"""

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path

from kerasbert.export.backends.cpu import check_kernels
from kerasbert.export.backends.rules.edge_tpu import EDGE_TPU
from kerasbert.export.backends.rules.operator_rules import (
    OperatorVerdict,
    calls,
    operator_verdicts,
    operators_by_backend,
    summarize,
)
from kerasbert.export.runtime.process import ProcessResult, run_command, run_module
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.model_parts import compiled_path, host_path
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check
from kerasbert.export.validation.context import BackendResult, ValidationContext
from kerasbert.export.validation.examples import RowOutputs
from kerasbert.files.cleanup import temporary_folder

COMPILER = "edgetpu_compiler"
WORKER = "kerasbert.export.backends.subprocesses.edge_tpu_worker"
SECONDS = 300.0
_ERRORS = (
    r"^(?:Internal compiler error|Compilation failed|Invalid model|Model not quantized|.*Didn't find op for builtin"
    r"|.*only supports static-sized).*$"
)
_FLOATS = ("float32", "float16")
_BEHIND = "behind"
_MAPPED = "Mapped to Edge TPU"
_ON_TPU, _ON_CPU = "edge-tpu", "cpu"


@dataclass(frozen=True)
class CompilerLog:
    """The log of the Edge TPU compiler.

    Attributes:
        subgraphs: The number of subgraphs for the Edge TPU; None where the log does not tell.
        operators: Count by (operator, status).
        error: The first error; empty for none.
    """

    subgraphs: int | None
    operators: dict[tuple[str, str], int]
    error: str

    @property
    def mapped(self) -> int:
        """Operators that run on the Edge TPU."""
        return sum(count for (_, status), count in self.operators.items() if status == _MAPPED)

    @classmethod
    def of(cls, log: str) -> "CompilerLog":
        """Parse the log of version 16."""
        subgraphs = re.search(r"^Number of Edge TPU subgraphs: (\d+)", log, re.M)
        _, _, table = log.partition("Operator ")
        operators: Counter = Counter()
        for name, count, status in re.findall(r"^([A-Z][A-Z0-9_]+)\s+(\d+)\s+(.+?)\s*$", table, re.M):
            operators[name, status] += int(count)
        errors = re.search(_ERRORS, log, re.M)
        return cls(int(subgraphs[1]) if subgraphs else None, dict(operators), errors[0].strip() if errors else "")


def forecast(file: ModelFile) -> tuple[OperatorVerdict, ...]:
    """Predict which calls the compiler maps.

    It makes one subgraph: a call that needs the result of one on the CPU stays on the CPU too.
    """
    on_cpu: dict[int, str] = {}  # tensors that come from the CPU, and through which operator
    verdicts = []
    for verdict, call in zip(operator_verdicts(file, EDGE_TPU), calls(file), strict=True):
        reason = verdict.unsupported_reason
        source = next((on_cpu[index] for index in call.operator.inputs if index in on_cpu), None)
        if reason is None and source is not None:
            reason = f"{_BEHIND} {source}, which stays on the CPU"
        # A float input is quantized on the CPU, and the next operators are mapped all the same.
        entering = verdict.operator == "QUANTIZE" and call.computed and call.computed[0].dtype in _FLOATS
        if reason is not None and not (entering and source is None):
            on_cpu |= dict.fromkeys(call.operator.outputs, source or verdict.operator)
        verdicts.append(OperatorVerdict(verdict.number, verdict.operator, reason))
    return tuple(verdicts)


def run_checks(context: ValidationContext) -> BackendResult:
    """Make the forecast, run the body, and ask compiler and device where they are installed."""
    verdicts = forecast(context.file)
    body, body_outputs = _check_body(context)
    with temporary_folder("edge-tpu") as folder:
        compiler, compiled = _check_compiler(context, verdicts, folder)
        device, device_outputs = _check_device(context, compiled)
    return BackendResult([_check_forecast(verdicts), body, compiler, device], device_outputs or body_outputs)


def _check_body(context: ValidationContext) -> tuple[Check, list[RowOutputs]]:
    """Run the body on reference kernels: integer arithmetic is the same everywhere, up to a rounding."""
    if not host_path(context.model_path).is_file():
        return Check("edge-tpu body", NOT_RUN, "the file is not in two parts: convert it with --target edge-tpu"), []
    return check_kernels(context, "edge-tpu body", "reference", context.sample_rows)


def _check_forecast(verdicts: Sequence[OperatorVerdict]) -> Check:
    mapped = sum(verdict.unsupported_reason is None for verdict in verdicts)
    ops = operators_by_backend(verdicts, _ON_TPU, _ON_CPU)
    name, device = "edge-tpu forecast", "none: a table of rules"
    if mapped < len(verdicts):
        causes_first = sorted(verdicts, key=lambda verdict: (verdict.unsupported_reason or "").startswith(_BEHIND))
        reason = f"{mapped} of {len(verdicts)} operators mapped; {summarize(causes_first)}"
        return Check(name, FAILED, reason, device=device, ops=ops)
    return Check(
        name, NOT_RUN, f"all {mapped} operators mapped, which only the compiler proves", device=device, ops=ops
    )


def _check_compiler(
    context: ValidationContext, verdicts: Sequence[OperatorVerdict], folder: Path
) -> tuple[Check, Path | None]:
    """Compile the file into the folder. Returns the check and the compiled file, if there is one."""
    name = "edge-tpu compiler"
    command = shutil.which(COMPILER)
    if command is None:
        reason = f"no {COMPILER} on the PATH: Coral's package repository has it, for Debian on x86-64"
        return Check(name, NOT_RUN, reason), None
    try:
        result = run_command([command, "-s", "-o", folder, context.model_path], SECONDS)
    except OSError as error:
        return Check(name, FAILED, f"{COMPILER} does not start: {error.strerror}"), None
    log, compiled = CompilerLog.of(result.log), next(folder.glob("*_edgetpu.tflite"), None)
    if not result.ok or log.error or compiled is None:
        return Check(name, FAILED, log.error or result.failure_reason, device=COMPILER), None
    forecast_count = sum(verdict.unsupported_reason is None for verdict in verdicts)
    total = sum(log.operators.values())
    summary = f"{log.mapped} of {total} operators mapped, {forecast_count} of {len(verdicts)} forecast"
    unmapped = [
        f"{count} {operator}: {status}" for (operator, status), count in log.operators.items() if status != _MAPPED
    ]
    passed = bool(log.subgraphs) and log.mapped > 0 and log.mapped == total
    reason = "; ".join([summary, *unmapped[:4]])
    return Check(name, PASSED if passed else FAILED, reason, device=COMPILER), compiled


def _check_device(context: ValidationContext, compiled: Path | None) -> tuple[Check, list[RowOutputs]]:
    """Run a sample of the rows on an Edge TPU, with the file just compiled or one beside the model."""
    name, library = "edge-tpu device", find_library("edgetpu")
    compiled = compiled or compiled_path(context.model_path)
    host = host_path(context.model_path)
    if library is None:
        return Check(
            name, NOT_RUN, "no libedgetpu on this machine, the Edge TPU's driver: Coral's package repository has it"
        ), []
    if not compiled.is_file() or not host.is_file():
        missing = host if compiled.is_file() else compiled
        return Check(name, NOT_RUN, f"no {missing.name}: an Edge TPU runs a file in two parts, its body compiled"), []

    def run(inputs: Path, outputs: Path) -> ProcessResult:
        return run_module(WORKER, [library, host, compiled, inputs, outputs], SECONDS)

    return context.check_worker(name, context.sample_rows, run, device=f"Edge TPU by {library}")
