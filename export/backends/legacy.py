"""The last tflite-runtime, 2.14, in an environment of its own: what devices with an old runtime make of a file."""

from pathlib import Path

from kerasbert.export.backends.child import run_child
from kerasbert.export.backends.job import ChildOutputs, Job
from kerasbert.export.backends.known_environments import LEGACY
from kerasbert.export.checks import FAILED, NOT_RUN, Check
from kerasbert.export.examples import Kept
from kerasbert.export.runtimes import cpu_model
from kerasbert.leftovers import temporary_folder

NAME = "legacy"
CHILD = Path(__file__).with_name("runtime_process.py")
SECONDS = 900.0


def checks(job: Job) -> tuple[list[Check], list[Kept]]:
    """Runs some rows on the old runtime, with its own kernels and XNNPACK."""
    device = f"{LEGACY.packages[0].replace('==', ' ')}, {cpu_model()}"
    if not LEGACY.ready:
        return [Check(NAME, NOT_RUN, LEGACY.missing)], []
    rows = job.some_rows
    with temporary_folder("legacy") as folder:
        given, outputs = folder / "rows.npz", folder / "outputs.npz"
        job.write(given, rows)
        ended = run_child([LEGACY.python, CHILD, job.model_path, given, outputs], SECONDS)
        if not ended.well:
            return [Check(NAME, FAILED, ended.last_words, device=device)], []
        found = ChildOutputs.read(outputs)
    kept = job.keep(found.outputs, rows)
    check = job.judged(NAME, rows, kept, found.seconds, remark=job.where(rows), device=device, threads=1)
    return [check], kept if len(kept) == len(job.examples) else []
