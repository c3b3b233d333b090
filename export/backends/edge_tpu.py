"""The Edge TPU: a forecast by rules, the body on a CPU's reference kernels, and the compiler and the device where they are installed.

Coral's compiler is closed, and in no package registry; a forecast is no proof, so without the compiler no check of the device passes.
"""

import re
import shutil
from collections import Counter
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path

from kerasbert.cleanup import temporary_folder
from kerasbert.export.backends.context import ChildOutputs, ValidationContext
from kerasbert.export.backends.cpu import on_kernels
from kerasbert.export.backends.rules.edge_tpu import EDGE_TPU
from kerasbert.export.backends.rules.operator_rules import Verdict, calls, operators_by_backend, told, verdicts
from kerasbert.export.backends.subprocesses.process import run_child, run_module
from kerasbert.export.runtime.partitioned_model import compiled_path, host_path
from kerasbert.export.tflite.tflite_file import TFLiteFile
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check
from kerasbert.export.validation.examples import Kept

COMPILER = "edgetpu_compiler"
CHILD = "kerasbert.export.backends.subprocesses.edge_tpu_worker"
SECONDS = 300.0
_ERRORS = (
    r"^(?:Internal compiler error|Compilation failed|Invalid model|Model not quantized|.*Didn't find op for builtin"
    r"|.*only supports static-sized).*$"
)
_FLOATS = ("float32", "float16")
_BEHIND = "behind"
_ON_TPU, _ON_CPU = "edge-tpu", "cpu"


@dataclass(frozen=True)
class Compiled:
    """What the compiler's log says. operators: (name, status) -> count. subgraphs: how many it made for the Edge TPU; None where it does
    not say."""

    subgraphs: int | None
    operators: dict[tuple[str, str], int]
    error: str

    @property
    def mapped(self) -> int:
        return sum(count for (_, status), count in self.operators.items() if status == "Mapped to Edge TPU")

    @classmethod
    def of(cls, log: str) -> "Compiled":
        """Reads the log of version 16."""
        subgraphs = re.search(r"^Number of Edge TPU subgraphs: (\d+)", log, re.M)
        _, _, table = log.partition("Operator ")
        operators: Counter = Counter()
        for name, count, status in re.findall(r"^([A-Z][A-Z0-9_]+)\s+(\d+)\s+(.+?)\s*$", table, re.M):
            operators[name, status] += int(count)
        errors = re.search(_ERRORS, log, re.M)
        return cls(int(subgraphs[1]) if subgraphs else None, dict(operators), errors[0].strip() if errors else "")


def forecast(file: TFLiteFile) -> tuple[Verdict, ...]:
    """What the compiler would map of each call. It makes one subgraph: whatever needs the result of a call that stays on the CPU stays
    there too."""
    outside: dict[int, str] = {}  # tensors that come from the CPU, and through which operator
    found = []
    for verdict, call in zip(verdicts(file, EDGE_TPU), calls(file), strict=True):
        reason = verdict.refused
        source = next((outside[index] for index in call.operator.inputs if index in outside), None)
        if reason is None and source is not None:
            reason = f"{_BEHIND} {source}, which stays on the CPU"
        entering = verdict.operator == "QUANTIZE" and call.computed and call.computed[0].dtype in _FLOATS
        if reason is not None and not (
            entering and source is None
        ):  # a float input is quantized on the CPU, and the rest goes on
            outside |= dict.fromkeys(call.operator.outputs, source or verdict.operator)
        found.append(Verdict(verdict.number, verdict.operator, reason))
    return tuple(found)


def checks(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """The forecast, the numbers of the body, and what compiler and device say where they are installed."""
    found = forecast(TFLiteFile.read(job.model_path))
    body, kept = _body(job)
    with temporary_folder("edge-tpu") as folder:
        compiler, compiled = _compiler(job, found, folder)
        device, on_device = _device(job, compiled)
    return [_forecast(found), body, compiler, device], on_device or kept


def _body(job: ValidationContext) -> tuple[Check, list[Kept]]:
    """Integer arithmetic is the same everywhere, up to a rounding: reference kernels tell what an Edge TPU would compute."""
    if not host_path(job.model_path).is_file():
        return Check("edge-tpu body", NOT_RUN, "the file is not in two parts: convert it with --target edge-tpu"), []
    rows = job.some_rows
    check, kept = on_kernels(job, "edge-tpu body", "reference", rows)
    return check, kept if len(kept) == len(job.examples) else []


def _forecast(found: tuple[Verdict, ...]) -> Check:
    mapped = sum(verdict.refused is None for verdict in found)
    ops = operators_by_backend(found, _ON_TPU, _ON_CPU)
    name, device = "edge-tpu forecast", "none: a table of rules"
    if mapped < len(found):
        causes_first = sorted(found, key=lambda verdict: (verdict.refused or "").startswith(_BEHIND))
        reason = f"{mapped} of {len(found)} operators mapped; {told(causes_first)}"
        return Check(name, FAILED, reason, device=device, ops=ops)
    return Check(
        name, NOT_RUN, f"all {mapped} operators mapped, which only the compiler proves", device=device, ops=ops
    )


def _compiler(job: ValidationContext, found: tuple[Verdict, ...], folder: Path) -> tuple[Check, Path | None]:
    """What the compiler says, and the file that it made, if any: in the folder."""
    name = "edge-tpu compiler"
    command = shutil.which(COMPILER)
    if command is None:
        reason = f"no {COMPILER} on the PATH: Coral's package repository has it, for Debian on x86-64"
        return Check(name, NOT_RUN, reason), None
    try:
        ended = run_child([command, "-s", "-o", folder, job.model_path], SECONDS)
    except OSError as error:
        return Check(name, FAILED, f"{COMPILER} does not start: {error.strerror}"), None
    said, made = Compiled.of(ended.log), next(folder.glob("*_edgetpu.tflite"), None)
    if not ended.well or said.error or made is None:
        return Check(name, FAILED, said.error or ended.failure_reason, device=COMPILER), None
    hoped = sum(verdict.refused is None for verdict in found)
    total = sum(said.operators.values())
    told_of = f"{said.mapped} of {total} operators mapped, {hoped} of {len(found)} forecast"
    left = [
        f"{count} {operator}: {status}"
        for (operator, status), count in said.operators.items()
        if status != "Mapped to Edge TPU"
    ]
    passed = bool(said.subgraphs) and said.mapped > 0 and said.mapped == total
    return Check(name, PASSED if passed else FAILED, "; ".join([told_of, *left[:4]]), device=COMPILER), made


def _device(job: ValidationContext, compiled: Path | None) -> tuple[Check, list[Kept]]:
    """Some rows on an Edge TPU, with the file that the compiler made just now, or earlier beside the model."""
    name, library = "edge-tpu device", find_library("edgetpu")
    compiled = compiled or compiled_path(job.model_path)
    host = host_path(job.model_path)
    if library is None:
        return Check(
            name, NOT_RUN, "no libedgetpu on this machine, the Edge TPU's driver: Coral's package repository has it"
        ), []
    if not compiled.is_file() or not host.is_file():
        missing = host if compiled.is_file() else compiled
        return Check(name, NOT_RUN, f"no {missing.name}: an Edge TPU runs a file in two parts, its body compiled"), []
    rows = job.some_rows
    with temporary_folder("edge-tpu") as folder:
        given, outputs = folder / "rows.npz", folder / "outputs.npz"
        job.write(given, rows)
        ended = run_module(CHILD, [library, host, compiled, given, outputs], SECONDS)
        if not ended.well:
            return Check(name, FAILED, ended.failure_reason, device=library), []
        found = ChildOutputs.read(outputs)
    kept = job.keep(found.outputs, rows)
    check = job.judged(name, rows, kept, found.seconds, remark=job.where(rows), device=f"Edge TPU by {library}")
    return check, kept if len(kept) == len(job.examples) else []
