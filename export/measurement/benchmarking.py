"""Measures load time, latency and memory of a `.tflite` file on this machine.

Every measurement runs in a process of its own (`runtime.benchmark_worker`), so that imports, other models and the caller's threads do not
count.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from kerasbert.arguments import check_path
from kerasbert.console.numbers import format_bytes, format_seconds
from kerasbert.console.tables import Block, Table, render
from kerasbert.data.sampling import spread
from kerasbert.errors import KerasBertError
from kerasbert.export.measurement.timed_rows import tokenized_rows
from kerasbert.export.runtime.interpreters import describe_machine
from kerasbert.export.runtime.isolated_session import check_runs
from kerasbert.export.runtime.onnx_session import ONNX
from kerasbert.export.runtime.process import run_module
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.checks import Latency
from kerasbert.files.cleanup import temporary_folder
from kerasbert.files.json_text import read_json_object
from kerasbert.values import is_whole_number

WORKER = "kerasbert.export.runtime.benchmark_worker"
SECONDS = 3600.0
_SAFE_IDS = 2  # ids that every embedding table has, for files without a vocabulary


@dataclass(frozen=True)
class Measurement:
    """One file at one length and thread count, batch 1; from a row's arrays to its outputs.

    Attributes:
        model: The file's name.
        length: Tokens of a row; None if each text ran at the length that it needs.
        threads: Threads of the runtime.
        latency: Seconds of a row.
        load_seconds: Seconds from the path to a planned model.
        first_seconds: Seconds of the first run, which packs weights.
        peak_bytes: The peak resident memory of the process.
        model_bytes: The peak less the memory of the process before loading, imports included.
        partitions: The number of delegate partitions, if the runtime reports it.
        by_tokens: Median seconds by the tokens of a text; empty if all rows ran at one length.
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
    by_tokens: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Two files that ran alternately in one process.

    Attributes:
        model: The file's name.
        against: The other file's name.
        length: Tokens of a row; None if each text ran at the length that it needs.
        threads: Threads of the runtime.
        latency: Seconds of a row.
        against_latency: Seconds of a row with the other file.
        ratio: The other file's median over this one's; above 1 this one is faster.
    """

    model: str
    against: str
    length: int | None
    threads: int
    latency: Latency
    against_latency: Latency
    ratio: float


@dataclass(frozen=True)
class Benchmark:
    """The measurements of `benchmark`.

    Attributes:
        measurements: One entry for each file, length and number of threads.
        comparisons: The latency ratios to a second file.
        machine: The processor, the operating system and the versions of the runtime.

    Example:
        ```python
        result = kb.export.benchmark("mine.tflite", runs=3, warmup=1)
        print(result.table())
        ```
    """

    measurements: tuple[Measurement, ...]
    comparisons: tuple[Comparison, ...]
    machine: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, JSON-able."""
        return asdict(self)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the measurements as table cells, in the order of `COLUMNS`."""
        return [
            (
                m.model,
                str(m.length or ("of each text" if m.by_tokens else "-")),
                str(m.threads),
                *map(format_seconds, (m.latency.p50, m.latency.p90, m.latency.p99, m.latency.mean)),
                *map(format_seconds, (m.load_seconds, m.first_seconds)),
                *map(format_bytes, (m.model_bytes, m.peak_bytes)),
                "-" if m.partitions is None else str(m.partitions),
            )
            for m in self.measurements
        ]

    def blocks(self) -> list[Block]:
        """Return the benchmark as a table and lines, for `kerasbert.console.tables.render`."""
        lines: list[Block] = [Table(COLUMNS, self.rows())]
        for c in self.comparisons:
            lines.append(
                f"in turn, length {c.length or 'of each text'}, {c.threads} thread(s), medians: {c.model} "
                f"{format_seconds(c.latency.p50)}, {c.against} {format_seconds(c.against_latency.p50)}; ratio {c.ratio:.2f}"
            )
        lines.append(", ".join(f"{key} {value}" for key, value in self.machine.items()))
        return lines

    def table(self) -> str:
        """Return the benchmark as plain text."""
        return render(self.blocks())


COLUMNS = (
    "model",
    "length",
    "threads",
    "p50",
    "p90",
    "p99",
    "mean",
    "load",
    "first run",
    "memory",
    "peak RSS",
    "parts",
)


def benchmark(
    path: str | os.PathLike,
    *,
    lengths: int | Sequence[int] | None = None,
    threads: int | Sequence[int] = (1,),
    runs: int = 50,
    warmup: int = 5,
    against: str | os.PathLike | None = None,
    data: Any = None,
    rows: int | None = None,
) -> Benchmark:
    """Measure a `.tflite` file at every length with every thread count.

    Args:
        path: The file.
        lengths: Sequence lengths of a resizable file, one or several, by default 128; a fixed file has its own only.
        threads: Thread counts of the runtime, one or several.
        runs: Timed runs of each measurement. With `data`, timed texts: each runs equally often, and all of them at least once.
        warmup: Runs before the timed ones.
        against: A second `.tflite` file, or an `.onnx` file with the same inputs (needs the package onnxruntime). Both are measured. For a
            fair ratio on a busy machine they also run alternately. Each file tokenizes the texts of `data` itself. A file without a
            tokenizer gets the ids of the first one, and must have a table of as many token ids.
        data: Texts as `validate` takes them, in place of one random row. Each text runs at the shortest length of the file that it fits,
            padded to the next multiple of 16 tokens if the file is resizable. An `.onnx` file with an open length pads nothing.
        rows: The number of texts to use, sampled evenly; by default all.

    Returns:
        The measurements.

    Raises:
        KerasBertError: When a file does not open at a length, texts are given for a file without a tokenizer, or a length or count is no
            whole number of at least 1.

    Example:
        ```python
        result = kb.export.benchmark("mine.tflite", threads=[1, 2], runs=3, warmup=1)
        [(each.threads, each.latency.p50) for each in result.measurements]  # seconds of a row
        ```
    """
    paths = [
        check_path(each, "the path of a .tflite file") for each in (path, against) if each is not None or each is path
    ]
    lengths, threads = _counts("lengths", () if lengths is None else lengths), _counts("threads", threads)
    _check_counts(threads, runs, warmup)
    spread(1, rows)  # checks the number
    if rows is not None and data is None:
        raise KerasBertError(f"expected data to take {rows!r} rows of, received none; name the data, or leave rows out")
    if data is not None and lengths:
        raise KerasBertError(
            "expected a length, or data whose texts have lengths of their own, received both; leave one of them out"
        )
    file, *others = _read_files(paths, lengths or (None,))
    texts = None if data is None or file is None else tokenized_rows(file, others, data, rows)
    vocabulary_size = min(_vocabulary_size(each.metadata) for each in (file, *others) if each is not None)
    measurements, comparisons = [], []
    for length in lengths or (None,):
        for count in threads:
            settings = {"threads": count, "runs": runs, "warmup": warmup, "words": vocabulary_size}
            own_length = length
            for number, each in enumerate(paths):
                own_rows = None if texts is None else texts[number : number + 1]
                measurements.append(_measurement(run_worker([each], length=own_length, rows=own_rows, **settings)))
                own_length = measurements[-1].length  # a file with an open length runs at the first one's
            if against is not None:
                comparisons.append(_comparison(run_worker(paths, length=own_length, rows=texts, **settings)))
    return Benchmark(tuple(measurements), tuple(comparisons), describe_machine())


def _counts(name: str, values: object) -> tuple[int, ...]:
    """Return one or several whole numbers as a tuple."""
    counts: tuple[Any, ...] = (None,)
    if isinstance(values, int | list | tuple):
        counts = (values,) if isinstance(values, int) else tuple(values)
    if not all(is_whole_number(count, 1) for count in counts):
        raise KerasBertError(
            f"expected {name} as a whole number of at least 1, or a list of such, received {values!r}; correct it"
        )
    return tuple(map(int, counts))


def _check_counts(threads: Sequence[int], runs: int, warmup: int) -> None:
    if not is_whole_number(runs, 1) or not is_whole_number(warmup, 0) or not threads:
        raise KerasBertError(
            f"expected runs and threads of at least 1, received runs={runs}, warmup={warmup}, threads={tuple(threads)}; raise the counts"
        )


def _read_files(paths: Sequence[str], lengths: Sequence[int | None]) -> list[ModelFile | None]:
    """Read each file, None for an `.onnx` file.

    Each `.tflite` file runs in a process with little time and memory first; a measurement may take an hour and all memory.
    """
    if paths[0].endswith(ONNX):
        raise KerasBertError(
            f"expected a .tflite file, and an .onnx file as the other one, received {paths[0]} first; exchange them"
        )
    files = [None if path.endswith(ONNX) else ModelFile.read(path) for path in paths]
    for path, file in zip(paths, files, strict=True):
        if file is not None:
            file.check_takes_ids("to measure it")
            for length in lengths:
                check_runs(path, length)
    return files


def _measurement(result: dict[str, Any]) -> Measurement:
    seconds, tokens = result.pop("seconds")[0], result.pop("tokens")
    return Measurement(**result, latency=Latency.of(seconds), by_tokens=_by_tokens(seconds, tokens) if tokens else {})


def _by_tokens(seconds: Sequence[float], tokens: Sequence[int]) -> dict[int, float]:
    """Return the median seconds by the number of tokens. `seconds` has all texts, round by round."""
    counts = np.tile(tokens, len(seconds) // len(tokens))
    return {int(count): float(np.median(np.asarray(seconds)[counts == count])) for count in np.unique(counts)}


def _comparison(result: dict[str, Any]) -> Comparison:
    latency, against_latency = (Latency.of(seconds) for seconds in result["seconds"])
    model, against = result["model"].split("\n")
    ratio = against_latency.p50 / latency.p50
    return Comparison(model, against, result["length"], result["threads"], latency, against_latency, ratio)


def run_worker(paths: list[str], **settings: Any) -> dict[str, Any]:
    """Return the result of `benchmark_worker.measure` in a process of its own."""
    with temporary_folder("benchmark") as folder:
        options, answer = folder / "options.json", folder / "answer.json"
        options.write_text(json.dumps({"paths": paths, **settings, "answer": str(answer)}), "utf-8")
        result = run_module(WORKER, [options], SECONDS)
        if not result.ok:
            raise KerasBertError(
                f"expected a measurement of {paths[0]}, received a process with {result.failure_reason}; convert the model again"
            )
        result = read_json_object(answer)
    if "error" in result:
        raise KerasBertError(result["error"])
    return result


def _vocabulary_size(metadata: Metadata | None) -> int:
    return len(metadata.vocabulary) if metadata and metadata.vocabulary else _SAFE_IDS
