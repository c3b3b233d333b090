"""The last tflite-runtime, 2.14, in an environment of its own: what devices with an old runtime make of a file."""

from pathlib import Path

from kerasbert.cleanup import temporary_folder
from kerasbert.export.backends.context import ChildOutputs, ValidationContext
from kerasbert.export.backends.environments.known import TFLITE_2_14
from kerasbert.export.backends.subprocesses.process import run_child
from kerasbert.export.runtime.interpreters import cpu_model
from kerasbert.export.validation.checks import FAILED, NOT_RUN, Check
from kerasbert.export.validation.examples import Kept

NAME = "tflite-2.14"
CHILD = Path(__file__).parent / "subprocesses" / "runtime_worker.py"
SECONDS = 900.0


def checks(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """Runs some rows on the old runtime, with its own kernels and XNNPACK."""
    device = f"{TFLITE_2_14.packages[0].replace('==', ' ')}, {cpu_model()}"
    if not TFLITE_2_14.ready:
        return [Check(NAME, NOT_RUN, TFLITE_2_14.missing)], []
    rows = job.some_rows
    with temporary_folder("tflite-2.14") as folder:
        given, outputs = folder / "rows.npz", folder / "outputs.npz"
        job.write(given, rows)
        ended = run_child([TFLITE_2_14.python, CHILD, job.model_path, given, outputs], SECONDS)
        if not ended.well:
            return [Check(NAME, FAILED, ended.failure_reason, device=device)], []
        found = ChildOutputs.read(outputs)
    kept = job.keep(found.outputs, rows)
    check = job.judged(NAME, rows, kept, found.seconds, remark=job.where(rows), device=device, threads=1)
    return [check], kept if len(kept) == len(job.examples) else []
