"""The Edge TPU: a forecast by rules, and the compiler and the device where they are installed.

Coral's compiler is closed, and in no package registry; a forecast is no proof, so without the compiler nothing here passes.
"""

import re
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kerasbert.export.backends.child import run_child
from kerasbert.export.backends.edge_tpu_rules import EDGE_TPU
from kerasbert.export.backends.job import Job
from kerasbert.export.backends.rules import Verdict, calls, operators_by_backend, told, verdicts
from kerasbert.export.checks import FAILED, NOT_RUN, PASSED, Check
from kerasbert.export.examples import Kept
from kerasbert.export.tflite_file import TFLiteFile

COMPILER = "edgetpu_compiler"
SECONDS = 300.0
_ERRORS = (
    r"^(?:Internal compiler error|Compilation failed|Invalid model|Model not quantized|.*Didn't find op for builtin"
    r"|.*only supports static-sized).*$"
)
_FLOATS = ("float32", "float16")
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
            reason = f"behind {source}, which stays on the CPU"
        entering = verdict.operator == "QUANTIZE" and call.computed and call.computed[0].dtype in _FLOATS
        if reason is not None and not (
            entering and source is None
        ):  # a float input is quantized on the CPU, and the rest goes on
            outside |= dict.fromkeys(call.operator.outputs, source or verdict.operator)
        found.append(Verdict(verdict.number, verdict.operator, reason))
    return tuple(found)


def checks(job: Job) -> tuple[list[Check], list[Kept]]:
    """The forecast, and what the compiler says where it is installed. Nothing runs here, so there are no outputs."""
    found = forecast(TFLiteFile.read(job.model_path))
    return [_forecast(found), _compiler(job, found)], []


def _forecast(found: tuple[Verdict, ...]) -> Check:
    mapped = sum(verdict.refused is None for verdict in found)
    ops = operators_by_backend(found, _ON_TPU, _ON_CPU)
    name, device = "edge-tpu forecast", "none: a table of rules"
    if mapped < len(found):
        return Check(name, FAILED, f"{mapped} of {len(found)} operators mapped; {told(found)}", device=device, ops=ops)
    return Check(
        name, NOT_RUN, f"all {mapped} operators mapped, which only the compiler proves", device=device, ops=ops
    )


def _compiler(job: Job, found: tuple[Verdict, ...]) -> Check:
    name = "edge-tpu compiler"
    command = shutil.which(COMPILER)
    if command is None:
        return Check(
            name, NOT_RUN, f"no {COMPILER} on the PATH: Coral's package repository has it, for Debian on x86-64"
        )
    with tempfile.TemporaryDirectory(prefix="kerasbert-edge-tpu-") as folder:
        try:
            ended = run_child([command, "-s", "-o", folder, job.model_path], SECONDS)
        except OSError as error:
            return Check(name, FAILED, f"{COMPILER} does not start: {error.strerror}")
        said = Compiled.of(ended.log)
        made = any(Path(folder).glob("*_edgetpu.tflite"))
    if not ended.well or said.error or not made:
        return Check(name, FAILED, said.error or ended.last_words, device=COMPILER)
    hoped = sum(verdict.refused is None for verdict in found)
    total = sum(said.operators.values())
    told_of = f"{said.mapped} of {total} operators mapped, {hoped} of {len(found)} forecast"
    left = [
        f"{count} {operator}: {status}"
        for (operator, status), count in said.operators.items()
        if status != "Mapped to Edge TPU"
    ]
    passed = bool(said.subgraphs) and said.mapped > 0 and said.mapped == total
    return Check(name, PASSED if passed else FAILED, "; ".join([told_of, *left[:4]]), device=COMPILER)
