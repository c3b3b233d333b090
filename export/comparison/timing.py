"""Latency of several models that run in turn in one process, and the memory of each in a process of its own."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.console.progress import Progress
from kerasbert.export.comparison.models import NamedModel
from kerasbert.export.comparison.results import Estimate, Quartiles
from kerasbert.export.measurement.benchmarking import run_worker
from kerasbert.export.measurement.timed_rows import Rows
from kerasbert.heads.registry import requested_heads
from kerasbert.processors.requested import requested_task

TEXTS = 64  # that are timed, sampled evenly
_DRAWS = 2000  # of the bootstrap
_CHANCE = 0.05  # outside of each bound


@dataclass(frozen=True)
class Timing:
    """The times of one model.

    Attributes:
        latency: Seconds of a row.
        faster: The reference's median over this one's.
        memory_bytes: The memory of the model alone.
    """

    latency: Quartiles
    faster: Estimate | None
    memory_bytes: int


def load_note() -> str:
    """Return a note if other programs use the processor, which slows models unevenly; empty where they do not, or it is not known."""
    try:
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
    except (OSError, AttributeError):
        return ""
    if load <= cores + 1:  # this process is one of them
        return ""
    return (
        f"note: other programs used the processor (load {load:.1f} on {cores} cores) while latency was measured; on an idle machine "
        "other ratios are likely"
    )


def time_models(
    models: Sequence[NamedModel],
    rows: Sequence[Rows] | None,
    length: int | None,
    words: int,
    runs: int,
    threads: int,
    progress: Progress,
) -> list[Timing]:
    """Time models row by row in alternation, the reference first.

    Args:
        models: The models.
        rows: The token rows of each; None for a row of `length` random ids.
        length: Tokens of that row.
        words: The number of ids that it may have.
        runs: The least number of timed rows.
        threads: CPU threads.
        progress: Receives the progress.

    Raises:
        KerasBertError: When a model does not open at the length, or does not run.
    """
    task = requested_task()
    settings: dict[str, Any] = {
        "length": length, "threads": threads, "words": words, "task": task and task.name, "heads": requested_heads(),
    }  # fmt: skip
    paths = [each.path for each in models]
    progress.begin("measuring latency, all models in turn")
    progress.advance(0)
    together = run_worker(paths, rows=rows, runs=runs, warmup=max(1, runs // 10), **settings)["seconds"]
    alone = []
    progress.begin("measuring memory", len(models), "models")
    progress.advance(0)
    for number, path in enumerate(paths):
        own = None if rows is None else rows[number : number + 1]
        alone.append(run_worker([path], rows=own, runs=1, warmup=0, **settings)["model_bytes"])
        progress.advance(number + 1)
    counts = [1 if rows is None else len(each["input_ids"]) for each in rows or [{}] * len(models)]
    return [
        Timing(Quartiles.of(seconds), _faster(together[0], seconds, counts[0], count), memory)
        for seconds, count, memory in zip(together, counts, alone, strict=True)
    ]


def _faster(reference: Sequence[float], model: Sequence[float], reference_rows: int, rows: int) -> Estimate | None:
    """Return the ratio of medians, with bounds from resampled rows; those of both models together where they have the same rows.

    Args:
        reference: Seconds of the reference, round by round.
        model: Seconds of the model.
        reference_rows: Rows in a round of the reference.
        rows: Rows in a round of the model.
    """
    ratio = float(np.median(reference) / np.median(model))
    sides = _by_row(reference, reference_rows), _by_row(model, rows)
    draw = np.random.default_rng(0)
    index = draw.integers(0, len(sides[0]), (_DRAWS, len(sides[0])))
    same = len(sides[0]) == len(sides[1])
    other = index if same else draw.integers(0, len(sides[1]), (_DRAWS, len(sides[1])))
    ratios = np.median(sides[0][index], axis=1) / np.median(sides[1][other], axis=1)
    low, high = np.quantile(ratios, (_CHANCE, 1 - _CHANCE))
    return Estimate.of(ratio, (min(float(low), ratio), max(float(high), ratio)))


def _by_row(seconds: Sequence[float], rows: int) -> np.ndarray:
    """Return the median of each row over all rounds; of a single row the seconds of each round."""
    rounds = np.asarray(seconds).reshape(-1, rows)
    return rounds[:, 0] if rows == 1 else np.median(rounds, axis=0)
