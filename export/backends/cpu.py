"""The CPU checks: XNNPACK on every row, the reference kernels on some, and one thread against several."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.checks import FAILED, PASSED, Check, Latency, Tolerance, shortfalls
from kerasbert.export.metrics import OutputDifference, compare
from kerasbert.export.runtimes import RunningModel, cpu_model, open_model
from kerasbert.export.sources import Examples

# Threads split sums differently, never by more than rounding.
THREADS_TOLERANCE = 1e-5
_MOST_THREADS = 4


@dataclass(frozen=True)
class Job:
    """What every backend gets: the file, real packed rows, what the other side made of them, and when that is good
    enough."""

    model_path: str
    examples: Examples
    expected: Mapping[str, np.ndarray]
    problem: str
    tolerance: Tolerance
    threads: int
    reference_rows: int
    progress: Callable[[str, int, int], None]


@dataclass(frozen=True)
class _Run:
    """One pass over rows: outputs (N, ...) by name and seconds a row."""

    outputs: dict[str, np.ndarray]
    seconds: list[float]
    model: RunningModel


def checks(job: Job) -> tuple[list[Check], dict[str, np.ndarray]]:
    """Runs the CPU checks. Returns them with XNNPACK's outputs, empty when it did not get that far."""
    every = np.arange(len(job.examples))
    some = spread(len(job.examples), job.reference_rows)
    xnnpack, outputs = _against_expected(job, "cpu-xnnpack", "xnnpack", every, judge_metric=True)
    reference, _ = _against_expected(job, "cpu-reference", "reference", some, judge_metric=False)
    return [xnnpack, reference, _threads(job, some)], outputs


def spread(rows: int, wanted: int | None) -> np.ndarray:
    """`wanted` row numbers spread evenly over all, so that data sorted by class keeps its variety."""
    if wanted is None or wanted >= rows:
        return np.arange(rows)
    return np.unique(np.linspace(0, rows - 1, wanted).round().astype(int))


def _against_expected(
    job: Job, name: str, kernels: str, rows: np.ndarray, judge_metric: bool
) -> tuple[Check, dict[str, np.ndarray]]:
    try:
        run = _run(job, name, kernels, job.threads, rows)
    except KerasBertError as error:
        return Check(name, FAILED, str(error), device=cpu_model(), threads=job.threads), {}
    differences = tuple(
        compare(key, job.expected[key][rows], value, job.problem) for key, value in sorted(run.outputs.items())
    )
    metrics = (
        job.examples.metrics(job.problem, job.expected, run.outputs)
        if judge_metric and not _broken(differences)
        else ()
    )
    found = shortfalls(job.tolerance, differences, metrics, job.problem, len(rows))
    subset = (
        "" if len(rows) == len(job.examples) else f"on {len(rows)} of {len(job.examples)} rows, the kernels are slow"
    )
    check = Check(
        name,
        FAILED if found else PASSED,
        "; ".join(found) or subset,
        device=cpu_model(),
        threads=job.threads,
        rows=len(rows),
        partitions=run.model.partitions if kernels == "xnnpack" else None,
        ops=run.model.ops_by_backend,
        outputs=differences,
        metrics=metrics,
        latency=Latency.of(run.seconds),
    )
    return check, run.outputs


def _threads(job: Job, rows: np.ndarray) -> Check:
    """The same rows with one thread and with several: a race or an uninitialized buffer shows here."""
    several = max(2, min(os.cpu_count() or 1, _MOST_THREADS))
    name = f"cpu-threads 1={several}"
    try:
        one = _run(job, name, "xnnpack", 1, rows)
        many = _run(job, name, "xnnpack", several, rows)
    except KerasBertError as error:
        return Check(name, FAILED, str(error), device=cpu_model(), threads=several)
    differences = tuple(
        compare(key, one.outputs[key], value, job.problem) for key, value in sorted(many.outputs.items())
    )
    found = shortfalls(Tolerance(max_error=THREADS_TOLERANCE), differences, (), job.problem, len(rows))
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


def _run(job: Job, label: str, kernels: str, threads: int, rows: np.ndarray) -> _Run:
    model = open_model(job.model_path, threads=threads, kernels=kernels, length=job.examples.length)
    outputs: dict[str, list[np.ndarray]] = {name: [] for name in model.outputs}
    seconds = []
    for done, row in enumerate(rows):
        example = job.examples.row(row, model.inputs)
        if done == 0:
            model.check(example)
            # The first run pays for packing weights; it is no measurement.
            model.fill(example)
            model.invoke()
        model.fill(example)
        start = time.perf_counter()
        model.invoke()
        seconds.append(time.perf_counter() - start)
        for name, value in model.fetch().items():
            outputs[name].append(value)
        job.progress(label, done + 1, len(rows))
    return _Run({name: np.concatenate(values) for name, values in outputs.items()}, seconds, model)


def _broken(differences: Sequence[OutputDifference]) -> bool:
    return any(difference.broken for difference in differences)
