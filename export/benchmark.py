"""How fast a `.tflite` file loads and runs, and how much memory it takes, on this machine.

Every measurement runs in a child process of its own, so that imports, other models and the caller's threads do not
count.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export import metadata as packed
from kerasbert.export.checks import Latency
from kerasbert.export.running_model import RunningModel
from kerasbert.export.runtimes import describe_machine, find_runtime, open_at_any_length, open_model
from kerasbert.export.tables import format_bytes, format_seconds, text_table

_SAFE_IDS = 2  # without a vocabulary: ids that every embedding table has
_CHILD_TIMEOUT = 600


@dataclass(frozen=True)
class Measurement:
    """One file at one length and thread count, batch 1.

    `load_seconds`: from the path to a planned model. `first_seconds`: the first run, which packs weights.
    `peak_bytes`: the process's peak
    resident memory; `model_bytes`: that peak less what the process held before loading, imports included.
    """

    model: str
    length: int | None
    threads: int
    latency: Latency
    load_seconds: float
    first_seconds: float
    peak_bytes: int
    model_bytes: int
    partitions: int | None


@dataclass(frozen=True)
class Comparison:
    """Two files run in turn in one process: `ratio` = median of the other / median of this one; above 1 this one is
    faster."""

    model: str
    against: str
    length: int | None
    threads: int
    latency: Latency
    against_latency: Latency
    ratio: float


@dataclass(frozen=True)
class Benchmark:
    """All measurements, comparisons if a second file was given, and the machine."""

    measurements: tuple[Measurement, ...]
    comparisons: tuple[Comparison, ...]
    machine: dict[str, str]

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    def rows(self) -> list[tuple[str, ...]]:
        """The measurements as table cells, in the order of `COLUMNS`."""
        return [
            (
                m.model,
                str(m.length or "-"),
                str(m.threads),
                *map(format_seconds, (m.latency.p50, m.latency.p90, m.latency.mean, m.load_seconds, m.first_seconds)),
                *map(format_bytes, (m.model_bytes, m.peak_bytes)),
                "-" if m.partitions is None else str(m.partitions),
            )
            for m in self.measurements
        ]

    def table(self) -> str:
        """The benchmark as plain text."""
        lines = [text_table(COLUMNS, self.rows())]
        for c in self.comparisons:
            lines.append(
                f"in turn, length {c.length or '-'}, {c.threads} thread(s): {c.model} {format_seconds(c.latency.p50)}, "
                f"{c.against} {format_seconds(c.against_latency.p50)}, ratio {c.ratio:.2f}"
            )
        lines.append(", ".join(f"{key} {value}" for key, value in self.machine.items()))
        return "\n".join(lines)


COLUMNS = ("model", "length", "threads", "p50", "p90", "mean", "load", "first run", "memory", "peak RSS", "parts")


def benchmark(
    path: str | os.PathLike,
    *,
    lengths: Sequence[int] | None = None,
    threads: Sequence[int] = (1,),
    runs: int = 50,
    warmup: int = 5,
    against: str | os.PathLike | None = None,
) -> Benchmark:
    """Measures a `.tflite` file, every length with every thread count.

    Args:
        path: the file.
        lengths: sequence lengths of a resizable file (default 128); a fixed file has its own only.
        threads: thread counts of the runtime.
        runs: timed runs each; `warmup` runs come before and do not count.
        against: a second file, measured too, and run in turn with the first for an honest ratio on a busy machine.

    Raises:
        KerasBertError: a file that does not open at that length, or counts below 1.
    """
    if runs < 1 or warmup < 0 or any(count < 1 for count in threads) or not threads:
        raise KerasBertError(
            f"Expected runs and threads of at least 1. Received: runs={runs}, warmup={warmup}, "
            f"threads={tuple(threads)}."
        )
    paths = [os.fspath(path)] + ([] if against is None else [os.fspath(against)])
    measurements, comparisons = [], []
    for length in lengths or (None,):
        for count in threads:
            for each in paths:
                measurements.append(_measured(_child([each], length, count, runs, warmup)))
            if against is not None:
                comparisons.append(_compared(_child(paths, length, count, runs, warmup)))
    return Benchmark(tuple(measurements), tuple(comparisons), describe_machine())


def _measured(result: dict) -> Measurement:
    seconds = result.pop("seconds")
    return Measurement(**result, latency=Latency.of(seconds[0]))


def _compared(result: dict) -> Comparison:
    ours, theirs = (Latency.of(seconds) for seconds in result["seconds"])
    names = result["model"].split("\n")
    return Comparison(names[0], names[1], result["length"], result["threads"], ours, theirs, theirs.p50 / ours.p50)


def _child(paths: list[str], length: int | None, threads: int, runs: int, warmup: int) -> dict:
    options = {
        "paths": paths,
        "length": length,
        "threads": threads,
        "runs": runs,
        "warmup": warmup,
        "ids": min(map(_vocabulary_size, paths)),
    }
    command = [sys.executable, "-m", "kerasbert.export.benchmark", "--child", json.dumps(options)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_CHILD_TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise KerasBertError(
            f"Expected a measurement within {_CHILD_TIMEOUT} s. Received: none for {paths[0]}. Ask for fewer runs."
        ) from error
    answer = done.stdout.strip().splitlines()[-1:] or [""]
    if done.returncode == 0 and answer[0].startswith("{"):
        result = json.loads(answer[0])
        if "error" in result:
            raise KerasBertError(result["error"])
        return result
    said = " ".join(done.stderr.split())[-200:] or "nothing"
    raise KerasBertError(
        f"Expected a measurement of {paths[0]}. Received: a process that ended with {done.returncode}, saying: {said}"
    )


def _measure(paths: list[str], length: int | None, threads: int, runs: int, warmup: int, ids: int) -> dict:
    """The child's work: load, warm up, time; several files in turn. Reading anything else would count as memory."""
    find_runtime()  # imported before the memory is read: it belongs to the process, not to the model
    _reset_peak()
    before = _resident()
    start = time.perf_counter()
    models = [_open(path, length, threads) for path in paths]
    load = time.perf_counter() - start
    for model in models:
        model.fill(_example(model, ids))
    start = time.perf_counter()
    for model in models:
        model.invoke()
    first = time.perf_counter() - start
    seconds: list[list[float]] = [[] for _ in models]
    for run in range(warmup + runs):
        for model, times in zip(models, seconds, strict=True):
            start = time.perf_counter()
            model.invoke()
            if run >= warmup:
                times.append(time.perf_counter() - start)
    peak = _peak()
    return {
        "model": "\n".join(Path(path).name for path in paths),
        "length": models[0].length,
        "threads": threads,
        "seconds": seconds,
        "load_seconds": load,
        "first_seconds": first,
        "peak_bytes": peak,
        "model_bytes": max(peak - before, 0),
        "partitions": models[0].partitions,
    }


def _open(path: str, length: int | None, threads: int) -> RunningModel:
    if length is not None:
        return open_model(path, threads=threads, length=length)
    return open_at_any_length(path, threads)


def _vocabulary_size(path: str) -> int:
    card = packed.read(path)
    return len(card.vocabulary) if card and card.vocabulary else _SAFE_IDS


def _example(model: RunningModel, ids: int) -> dict[str, np.ndarray]:
    """A full row of varied token ids below `ids`: no padding, so every position counts."""
    example = {}
    for name, port in model.inputs.items():
        count = int(np.prod(port.shape))
        values = {"input_ids": np.arange(count) * 7919 % ids, "attention_mask": np.ones(count)}.get(
            name, np.zeros(count)
        )
        example[name] = values.reshape(port.shape).astype(port.dtype)
    return example


def _reset_peak() -> None:
    """Linux can forget the peak that the imports left behind."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def _resident() -> int:
    return _status("VmRSS") or _peak()


def _peak() -> int:
    # ru_maxrss counts kilobytes on Linux, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(key: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":")), 0)


def _main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m kerasbert.export.benchmark", description="The child that benchmark() starts."
    )
    parser.add_argument("--child", required=True, metavar="JSON")
    options = json.loads(parser.parse_args().child)
    try:
        print(json.dumps(_measure(**options)))
    except KerasBertError as error:
        print(json.dumps({"error": str(error)}))


if __name__ == "__main__":
    _main()
