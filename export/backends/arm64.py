"""The kernels of phones (NEON, dot products, i8mm), by the aarch64 runtime under QEMU: which numbers they give, not how fast."""

import sys
from pathlib import Path

import numpy as np

from kerasbert.cleanup import temporary_folder
from kerasbert.export.backends.context import ChildOutputs, ValidationContext
from kerasbert.export.backends.environments.arm64 import PROCESSORS, CpuModel
from kerasbert.export.backends.environments.known import ARM64
from kerasbert.export.backends.operators_alone import integer_denses
from kerasbert.export.backends.subprocesses.process import Ended, run_child
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check
from kerasbert.export.validation.examples import Kept, spread

NAME = "arm64"
CHILD = Path(__file__).parent / "subprocesses" / "runtime_worker.py"
SECONDS = 1800.0
_ROWS = 8  # a row of a small BERT takes seconds
_ROWS_TO_AGREE = 30  # the fewest on which equal outputs pass a spot check, see `kerasbert.export.validation.verdict`
_DRAWS = 2


def checks(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """Some rows on each processor; and every dense of static 8 bits by itself, which must give what it gives here, bit for bit."""
    names = [f"{NAME} {processor.name}" for processor in PROCESSORS]
    if not ARM64.ready:
        return [Check(name, NOT_RUN, ARM64.missing) for name in (*names, f"{NAME} operators")], []
    most = _ROWS if job.tolerance.agreement is None and job.tolerance.cosine is None else _ROWS_TO_AGREE
    rows = spread(len(job.examples), min(job.reference_rows, most))
    with temporary_folder("arm64") as place:
        job.write(place / "rows.npz", rows)
        found = []
        for name, processor in zip(names, PROCESSORS, strict=True):
            found.append(_whole(job, name, processor, rows, place))
            job.progress(NAME, len(found), len(PROCESSORS) + 1)
        found.append(_operators(job, place))
    return found, []


def _whole(job: ValidationContext, name: str, processor: CpuModel, rows: np.ndarray, place: Path) -> Check:
    device = f"{processor.name} under QEMU, {processor.stands_for}"
    outputs = place / f"{processor.part}.npz"
    ended = _run(processor, job.model_path, place / "rows.npz", outputs)
    if not ended.well:
        return Check(name, FAILED, ended.failure_reason, device=device)
    found = ChildOutputs.read(outputs)
    kept = job.keep(found.outputs, rows)
    return job.judged(name, rows, kept, found.seconds, remark=job.where(rows), device=device, threads=1)


def _operators(job: ValidationContext, place: Path) -> Check:
    name = f"{NAME} operators"
    alone = integer_denses(Path(job.model_path).read_bytes())
    if alone is None:
        return Check(name, NOT_RUN, "no dense of static 8 bits in this file")
    file, given, here = place / "operators.tflite", place / "operators.npz", place / "here.npz"
    file.write_bytes(alone.content)
    draw = np.random.default_rng(0)
    np.savez(
        given, **{name: draw.integers(-128, 128, (_DRAWS, *shape[1:]), np.int8) for name, shape in alone.inputs.items()}
    )
    ended = run_child([sys.executable, CHILD, file, given, here], SECONDS)
    if not ended.well:
        return Check(name, FAILED, f"on this machine: {ended.failure_reason}")
    expected, wrong = ChildOutputs.read(here).outputs, []
    for processor in PROCESSORS:
        outputs = place / f"operators-{processor.part}.npz"
        ended = _run(processor, file, given, outputs)
        if not ended.well:
            wrong.append(f"{processor.name}: {ended.failure_reason}")
            continue
        found = ChildOutputs.read(outputs).outputs
        different = [key for key, values in expected.items() if not np.array_equal(values, found[key])]
        if different:
            wrong.append(f"{processor.name}: {len(different)} of {len(expected)} differ from x86-64")
    same = (
        f"{len(expected)} Dense layers give the same bits as on x86-64 on {', '.join(each.name for each in PROCESSORS)}"
    )
    return Check(name, FAILED if wrong else PASSED, "; ".join(wrong) or same, rows=_DRAWS)


def _run(processor: CpuModel, model: str | Path, rows: Path, outputs: Path) -> Ended:
    return run_child(ARM64.command(processor, CHILD, model, rows, outputs), SECONDS, ARM64.variables)
