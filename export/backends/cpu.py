"""The CPU checks: XNNPACK on every row, the reference kernels on some, and one thread against several."""

import os
import time
from dataclasses import dataclass

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.context import ValidationContext
from kerasbert.export.runtime.interpreter_model import SIGNATURE, InterpreterModel
from kerasbert.export.runtime.interpreters import cpu_model, open_model
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check, Latency, Tolerance
from kerasbert.export.validation.examples import Kept, spread
from kerasbert.export.validation.verdict import hard_faults

# Threads split sums differently, never by more than rounding.
THREADS_TOLERANCE = 1e-5
_MOST_THREADS = 4


@dataclass(frozen=True)
class _Run:
    """One pass over rows: what is kept of each, and seconds a token list."""

    kept: list[Kept]
    seconds: list[float]
    model: InterpreterModel


def checks(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """Runs the CPU checks. Returns them with what is kept of XNNPACK's outputs, empty when it did not get that far."""
    every = np.arange(len(job.examples))
    some = job.some_rows
    xnnpack, kept = on_kernels(job, "cpu-xnnpack", "xnnpack", every)
    reference, _ = on_kernels(job, "cpu-reference", "reference", some)
    return [xnnpack, *_shorter(job), reference, _threads(job, some)], kept


def _shorter(job: ValidationContext) -> list[Check]:
    """The file's other lengths, each on some of the rows that it fits. A row that fills it is left out: the last token of a MobileBERT sees
    what stands behind it."""
    try:
        lengths = open_model(job.model_path, length=job.examples.length).lengths
    except KerasBertError:
        return []  # told by the first check
    found = []
    for length in (each for each in lengths if each != job.examples.length):
        name = f"cpu-xnnpack {SIGNATURE}_{length}"
        rows = np.flatnonzero(job.examples.rows.lengths < length)
        if len(rows):
            found.append(on_kernels(job, name, "xnnpack", rows[spread(len(rows), job.reference_rows)], length)[0])
        else:
            found.append(Check(name, NOT_RUN, f"no row of fewer than {length} tokens"))
    return found


def on_kernels(
    job: ValidationContext, name: str, kernels: str, rows: np.ndarray, length: int | None = None
) -> tuple[Check, list[Kept]]:
    """Some rows on one set of kernels (`open_model`), and what is kept of the outputs, empty when it did not get that far.

    length: of the file, where that has several; by default the longest.
    """
    try:
        run = _run(job, name, kernels, job.threads, rows, length)
    except KerasBertError as error:
        return Check(name, FAILED, str(error), device=cpu_model(), threads=job.threads), []
    subset = job.where(rows)
    if subset and kernels == "reference":
        subset += ", the kernels are slow"
    check = job.judged(
        name, rows, run.kept, run.seconds, remark=subset, device=cpu_model(), threads=job.threads,
        partitions=run.model.partitions if kernels == "xnnpack" else None, ops=run.model.ops_by_backend,
    )  # fmt: skip
    return check, run.kept


def _threads(job: ValidationContext, rows: np.ndarray) -> Check:
    """The same rows with one thread and with several: a race or an uninitialized buffer shows here."""
    several = max(2, min(os.cpu_count() or 1, _MOST_THREADS))
    name = f"cpu-threads 1={several}"
    try:
        one = _run(job, name, "xnnpack", 1, rows)
        many = _run(job, name, "xnnpack", several, rows)
    except KerasBertError as error:
        return Check(name, FAILED, str(error), device=cpu_model(), threads=several)
    differences = job.differences(one.kept, many.kept)
    limits = Tolerance(max_error=THREADS_TOLERANCE)
    found = hard_faults(limits, differences)
    return Check(
        name,
        FAILED if found else PASSED,
        "; ".join(found) or "compared with its own one-thread outputs",
        device=cpu_model(),
        threads=several,
        rows=len(rows),
        partitions=many.model.partitions,
        ops=many.model.ops_by_backend,
        outputs=differences,
        latency=Latency.of(many.seconds),
    )


def _run(
    job: ValidationContext, label: str, kernels: str, threads: int, rows: np.ndarray, length: int | None = None
) -> _Run:
    """length: tokens of the rows, cut to it; by default all that they are padded to."""
    length = length or job.examples.length
    model = open_model(job.model_path, threads=threads, kernels=kernels, length=length)
    group, kept, seconds = job.examples.group, [], []
    for done, row in enumerate(rows):
        outputs = []
        for number in range(row * group, (row + 1) * group):
            example = {name: values[:, :length] for name, values in job.examples.one(number, model.inputs).items()}
            if not seconds:
                model.check(example)
                # The first run pays for packing weights; it is no measurement.
                model.fill(example)
                model.invoke()
            model.fill(example)
            start = time.perf_counter()
            model.invoke()
            seconds.append(time.perf_counter() - start)
            outputs.append(model.fetch())
        together = {name: np.concatenate([each[name] for each in outputs]) for name in model.outputs}
        kept.append(job.examples.keep(together, row, like=job.expected[row]))
        job.progress(label, done + 1, len(rows))
    return _Run(kept, seconds, model)
