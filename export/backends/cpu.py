"""The CPU: XNNPACK on every row, the reference kernels on a sample, and one thread against several."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kerasbert.data.sampling import spread
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.context import BackendResult, ValidationContext
from kerasbert.export.runtime.interpreter_model import SIGNATURE
from kerasbert.export.runtime.interpreters import cpu_model
from kerasbert.export.runtime.runnable_model import RunnableModel
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check, Latency, Tolerance
from kerasbert.export.validation.examples import RowOutputs
from kerasbert.export.validation.verdict import hard_faults

# Threads split sums differently, never by more than rounding.
THREADS_TOLERANCE = 1e-5
_MAX_THREADS = 4


@dataclass(frozen=True)
class _Run:
    """One pass over rows: the outputs of each, and seconds a token list."""

    outputs: list[RowOutputs]
    seconds: list[float]
    model: RunnableModel


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

    def open_at_length() -> RunnableModel:
        model = context.open_model(kernels)
        return model if length is None else model.at(length)

    try:
        run = _run(context, name, open_at_length, rows)
    except KerasBertError as error:
        return Check(name, FAILED, str(error), device=cpu_model(), threads=context.threads), []
    remark = context.sample_remark(rows)
    if remark and kernels == "reference":
        remark += ", the kernels are slow"
    check = context.make_check(
        name, rows, run.outputs, run.seconds, remark=remark, device=cpu_model(), threads=context.threads,
        partitions=run.model.partitions if kernels == "xnnpack" else None, ops=run.model.ops_by_backend,
    )  # fmt: skip
    return check, run.outputs


def _check_threads(context: ValidationContext, rows: np.ndarray) -> Check:
    """Run the same rows with one thread and with several: a race or an uninitialized buffer shows here."""
    several = max(2, min(os.cpu_count() or 1, _MAX_THREADS))
    name = f"cpu-threads 1={several}"
    try:
        one = _run(context, name, lambda: context.open_model(threads=1), rows)
        many = _run(context, name, lambda: context.open_model(threads=several), rows)
    except KerasBertError as error:
        return Check(name, FAILED, str(error), device=cpu_model(), threads=several)
    differences = context.differences(one.outputs, many.outputs)
    faults = hard_faults(Tolerance(max_error=THREADS_TOLERANCE), differences)
    return Check(
        name,
        FAILED if faults else PASSED,
        "; ".join(faults) or "compared with its own one-thread outputs",
        device=cpu_model(),
        threads=several,
        rows=len(rows),
        partitions=many.model.partitions,
        ops=many.model.ops_by_backend,
        outputs=differences,
        latency=Latency.of(many.seconds),
        arithmetic=context.arithmetic(),
    )


def _run(context: ValidationContext, label: str, open_model: Callable[[], RunnableModel], rows: np.ndarray) -> _Run:
    """Run rows one by one, cut to the model's length."""
    model = open_model()
    length = model.length or context.examples.length
    group, outputs, seconds = context.examples.group, [], []
    for done, row in enumerate(rows):
        row_outputs = []
        for number in range(row * group, (row + 1) * group):
            inputs = {name: values[:, :length] for name, values in context.examples.one(number, model.inputs).items()}
            if not seconds:
                model.run(inputs)  # the first run pays for packing weights; it is no measurement
            arrays, elapsed = model.timed(inputs)
            seconds.append(elapsed)
            row_outputs.append(arrays)
        together = {name: np.concatenate([each[name] for each in row_outputs]) for name in model.outputs}
        outputs.append(context.examples.extract(together, row, reference=context.expected[row]))
        context.progress(label, done + 1, len(rows))
    return _Run(outputs, seconds, model)
