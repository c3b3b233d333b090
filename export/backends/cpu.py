"""The CPU: XNNPACK on every row, the reference kernels on a sample, and one thread against several."""

import os

import numpy as np

from kerasbert.data.sampling import spread
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_session import SIGNATURE
from kerasbert.export.runtime.interpreters import cpu_model
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check, Latency, Tolerance
from kerasbert.export.validation.context import BackendResult, ValidationContext
from kerasbert.export.validation.examples import RowOutputs
from kerasbert.export.validation.verdict import hard_faults

# Threads split sums differently, never by more than rounding.
THREADS_TOLERANCE = 1e-5
_MAX_THREADS = 4


def run_checks(context: ValidationContext) -> BackendResult:
    """Run all rows on XNNPACK and a sample on the reference kernels, and compares one thread with several."""
    every, sample = np.arange(len(context.examples)), context.sample_rows
    xnnpack, outputs = check_kernels(context, "cpu-xnnpack", "xnnpack", every)
    shorter = _check_shorter_lengths(context)
    reference, _ = check_kernels(context, "cpu-reference", "reference", sample)
    return BackendResult([xnnpack, *shorter, reference, _check_threads(context, sample)], outputs)


def _check_shorter_lengths(context: ValidationContext) -> list[Check]:
    """Run every other length of the file on a sample of the rows that it fits.

    A row that fills the length is left out: in a MobileBERT, the embedding of the last token depends on the token after it.
    """
    checks = []
    for length in (each for each in context.model.lengths if each != context.examples.length):
        name = f"cpu-xnnpack {SIGNATURE}_{length}"
        rows = np.flatnonzero(context.examples.features.lengths < length)
        if len(rows):
            sample = rows[spread(len(rows), context.sample_size)]
            checks.append(check_kernels(context, name, "xnnpack", sample, length)[0])
        else:
            checks.append(Check(name, NOT_RUN, f"no row of fewer than {length} tokens"))
    return checks


def check_kernels(
    context: ValidationContext, name: str, kernels: str, rows: np.ndarray, length: int | None = None
) -> tuple[Check, list[RowOutputs]]:
    """Run some rows on one set of kernels.

    Args:
        context: The validation.
        name: The check's name.
        kernels: A kernel set of `kerasbert.export.open_model`.
        rows: Their numbers.
        length: Another length of the file than that of the rows.

    Returns:
        The check, and the outputs of each row; none where the file did not open or run.
    """
    try:
        session = context.open_model(kernels)
        session = session if length is None else session.at(length)
        outputs, seconds = context.run(name, session, rows)
    except KerasBertError as error:
        return Check(name, FAILED, str(error), device=cpu_model(), threads=context.threads), []
    remark = context.sample_remark(rows)
    if remark and kernels == "reference":
        remark += ", the kernels are slow"
    check = context.make_check(
        name, rows, outputs, seconds, remark=remark, device=cpu_model(), threads=context.threads,
        partitions=session.partitions if kernels == "xnnpack" else None, ops=session.ops_by_backend,
    )  # fmt: skip
    return check, outputs


def _check_threads(context: ValidationContext, rows: np.ndarray) -> Check:
    """Run the same rows with one thread and with several: a race or an uninitialized buffer shows here."""
    several = max(2, min(os.cpu_count() or 1, _MAX_THREADS))
    name = f"cpu-threads 1={several}"
    try:
        one, _ = context.run(name, context.open_model(threads=1), rows)
        session = context.open_model(threads=several)
        many, seconds = context.run(name, session, rows)
    except KerasBertError as error:
        return Check(name, FAILED, str(error), device=cpu_model(), threads=several)
    differences = context.differences(one, many)
    faults = hard_faults(Tolerance(max_error=THREADS_TOLERANCE), differences)
    return Check(
        name,
        FAILED if faults else PASSED,
        "; ".join(faults) or "compared with its own one-thread outputs",
        device=cpu_model(),
        threads=several,
        rows=len(rows),
        partitions=session.partitions,
        ops=session.ops_by_backend,
        outputs=differences,
        latency=Latency.of(seconds),
        arithmetic=context.arithmetic(),
    )
