"""The kernels of phones (NEON, dot products, i8mm), by the aarch64 runtime under QEMU: their numbers, not their speed."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.data.sampling import spread
from kerasbert.export.backends.environments.arm64 import PROCESSORS, CpuModel
from kerasbert.export.backends.environments.known import ARM64
from kerasbert.export.backends.operators_alone import OperatorsAlone, extract_integer_dense
from kerasbert.export.runtime.process import ProcessResult, run_command
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check
from kerasbert.export.validation.context import BackendResult, ValidationContext, read_outputs
from kerasbert.files.cleanup import temporary_folder

NAME = "arm64"
WORKER = Path(__file__).parent / "subprocesses" / "runtime_worker.py"
SECONDS = 1800.0
_MAX_ROWS = 8  # a row of a small BERT takes seconds
_ROWS_TO_AGREE = 30  # the fewest on which equal outputs pass a spot check, see `kerasbert.export.validation.verdict`
_DRAWS = 2


def run_checks(context: ValidationContext) -> BackendResult:
    """Run some rows on each processor, and every int8 Dense layer by itself, which must give the same bits as on this machine."""
    tolerance = context.tolerance
    most = _MAX_ROWS if tolerance.agreement is None and tolerance.cosine is None else _ROWS_TO_AGREE
    rows = spread(len(context.examples), min(context.sample_size, most))
    context.progress.begin(f"running {NAME}", len(PROCESSORS) + 1, "checks")
    with temporary_folder(NAME) as folder:
        checks = []
        for processor in PROCESSORS:
            checks.append(_check_processor(context, processor, rows))
            context.progress.advance(len(checks))
        checks.append(_check_operators(context, folder))
    return BackendResult(checks)


def _check_processor(context: ValidationContext, processor: CpuModel, rows: np.ndarray) -> Check:
    """Run the whole file on one processor."""
    name, device = f"{NAME} {processor.name}", f"{processor.name} under QEMU, {processor.stands_for}"
    run = partial(_run, processor, context.model_path)
    return context.check_worker(name, rows, run, device=device, threads=1)[0]


def _check_operators(context: ValidationContext, folder: Path) -> Check:
    """Compare every int8 Dense layer, bit for bit, with this machine's kernels."""
    name = f"{NAME} operators"
    alone = extract_integer_dense(context.file.content)
    if alone is None:
        return Check(name, NOT_RUN, "no static int8 Dense layer in this file")
    file, inputs, outputs_here = folder / "operators.tflite", folder / "operators.npz", folder / "here.npz"
    file.write_bytes(alone.content)
    _write_random_inputs(inputs, alone)
    result = run_command([sys.executable, WORKER, file, inputs, outputs_here], SECONDS)
    if not result.ok:
        return Check(name, FAILED, f"on this machine: {result.failure_reason}")
    expected, faults = read_outputs(outputs_here)[0], []
    for processor in PROCESSORS:
        outputs_file = folder / f"operators-{processor.part}.npz"
        result = _run(processor, file, inputs, outputs_file)
        if not result.ok:
            faults.append(f"{processor.name}: {result.failure_reason}")
            continue
        actual = read_outputs(outputs_file)[0]
        different = [key for key, values in expected.items() if not np.array_equal(values, actual[key])]
        if different:
            faults.append(f"{processor.name}: {len(different)} of {len(expected)} differ from x86-64")
    processors = ", ".join(processor.name for processor in PROCESSORS)
    equal = f"{len(expected)} Dense layers give the same bits as on x86-64 on {processors}"
    return Check(name, FAILED if faults else PASSED, "; ".join(faults) or equal, rows=_DRAWS, arithmetic="int8")


def _write_random_inputs(path: Path, alone: OperatorsAlone) -> None:
    draw = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        name: draw.integers(-128, 128, (_DRAWS, *shape[1:]), np.int8) for name, shape in alone.inputs.items()
    }
    np.savez(path, **arrays)


def _run(processor: CpuModel, model: str | Path, inputs: Path, outputs: Path) -> ProcessResult:
    return run_command(ARM64.command(processor, WORKER, model, inputs, outputs), SECONDS, ARM64.variables)
