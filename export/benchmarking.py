"""How fast a `.tflite` file loads and runs, and how much memory it takes, on this machine.

Every measurement runs in a child process of its own (`measuring`), so that imports, other models and the caller's threads do not count.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from kerasbert.cleanup import temporary_folder
from kerasbert.console.numbers import format_bytes, format_seconds
from kerasbert.console.output import note
from kerasbert.console.tables import Block, Table, render
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.subprocesses.process import run_module
from kerasbert.export.runtime.benchmark_worker import ONNX
from kerasbert.export.runtime.interpreters import describe_machine
from kerasbert.export.runtime.isolated_model import check_runs
from kerasbert.export.runtime.padding import padding_note
from kerasbert.export.runtime.predictor import open_predictor
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.validation.checks import Latency
from kerasbert.export.validation.examples import read_data
from kerasbert.files.json_text import read_json_object

CHILD = "kerasbert.export.runtime.benchmark_worker"
SECONDS = 3600.0
_SAFE_IDS = 2  # without a vocabulary: ids that every embedding table has


@dataclass(frozen=True)
class Measurement:
    """One file at one length and thread count, batch 1; from a row's arrays to its outputs.

    `length`: None where each text ran at the length that it needs; `by_tokens` then has the median seconds by a text's tokens.
    `load_seconds`: from the path to a planned model. `first_seconds`: the first run, which packs weights.
    `peak_bytes`: the process's peak resident memory; `model_bytes`: that peak less what the process held before loading, imports included.
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
    """Two files run in turn in one process: `ratio` = median of the other / median of this one; above 1 this one is faster."""

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
        """The benchmark as a table and lines, for `kerasbert.console.tables.render`."""
        lines: list[Block] = [Table(COLUMNS, self.rows())]
        for c in self.comparisons:
            lines.append(
                f"in turn, length {c.length or 'of each text'}, {c.threads} thread(s), medians: {c.model} "
                f"{format_seconds(c.latency.p50)}, {c.against} {format_seconds(c.against_latency.p50)}; ratio {c.ratio:.2f}"
            )
        lines.append(", ".join(f"{key} {value}" for key, value in self.machine.items()))
        return lines

    def table(self) -> str:
        """The benchmark as plain text."""
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
    lengths: Sequence[int] | None = None,
    threads: Sequence[int] = (1,),
    runs: int = 50,
    warmup: int = 5,
    against: str | os.PathLike | None = None,
    data=None,
    rows: int | None = None,
) -> Benchmark:
    """Measures a `.tflite` file, every length with every thread count.

    Args:
        path: the file.
        lengths: sequence lengths of a resizable file (default 128); a fixed file has its own only.
        threads: thread counts of the runtime.
        runs: timed runs each; `warmup` runs come before and do not count.
        against: a second `.tflite` file, measured too, or an `.onnx` file (with the package onnxruntime) of the same inputs; both run in
            turn for an honest ratio on a busy machine.
        data: texts, as `validate` takes them, instead of one made-up row: each runs at the shortest length of the file that it fits, or
            padded to the next 16 tokens where the caller sets the length; an `.onnx` file with an open length gets it as it is. `runs`
            then counts texts: each runs equally often, all of them at least once. rows: use so many of them, spread evenly.

    Raises:
        KerasBertError: a file that does not open at that length, or that cannot read texts, and counts below 1.
    """
    if runs < 1 or warmup < 0 or any(count < 1 for count in threads) or not threads:
        raise KerasBertError(
            f"expected runs and threads of at least 1, received runs={runs}, warmup={warmup}, threads={tuple(threads)}"
        )
    if data is not None and lengths:
        raise KerasBertError("expected a length, or data whose texts have lengths of their own, received both")
    if os.fspath(path).endswith(ONNX):
        raise KerasBertError(f"expected a .tflite file, and an .onnx file as the other one, received {path} first")
    for each in (str(name) for name in (path, against) if name is not None):
        if not each.endswith(ONNX):
            packed.check_takes_ids(each, packed.read(each), "to measure it")
            for length in lengths or (None,):
                check_runs(each, length)  # measuring itself has an hour's time and all memory
    texts = None if data is None else _texts(path, data, rows)
    paths = [os.fspath(path)] + ([] if against is None else [os.fspath(against)])
    words = min(_vocabulary_size(each) for each in paths if not each.endswith(ONNX))
    measurements, comparisons = [], []
    for length in lengths or (None,):
        for count in threads:
            settings = {"threads": count, "runs": runs, "warmup": warmup, "words": words, "rows": texts}
            own = length
            for each in paths:
                measurements.append(_measured(_child([each], length=own, **settings)))
                own = measurements[-1].length  # an .onnx file with an open length runs at the other one's
            if against is not None:
                comparisons.append(_compared(_child(paths, length=length, **settings)))
    return Benchmark(tuple(measurements), tuple(comparisons), describe_machine())


def _texts(path, data, rows: int | None) -> dict:
    """What the child gets of the texts: their tokens, cut to the file's longest row."""
    predictor = open_predictor(path)
    given = read_data(data, predictor.processor)
    if given.is_packed:
        raise KerasBertError("expected texts to measure the time of, received packed arrays")
    examples = predictor.processor.examples(given.x)
    found = predictor.processor.scoring_features(examples, predictor.tokenizer, predictor.length)
    if line := padding_note(predictor.card, found.lengths):
        note(line)
    lists = range(len(found.tokens.input_ids))
    chosen = lists if rows is None else lists[:: -(-len(lists) // rows)]
    tokens = {
        name: [list(map(int, getattr(found.tokens, name)[i])) for i in chosen]
        for name in ("input_ids", "token_type_ids")
    }
    return {**tokens, "longest": predictor.length}


def _measured(result: dict) -> Measurement:
    seconds, tokens = result.pop("seconds"), result.pop("tokens")
    return Measurement(
        **result, latency=Latency.of(seconds[0]), by_tokens=_by_tokens(seconds[0], tokens) if tokens else {}
    )


def _by_tokens(seconds: Sequence[float], tokens: Sequence[int]) -> dict[int, float]:
    """The median of each number of tokens. seconds: of all texts, round by round."""
    numbers = np.tile(tokens, len(seconds) // len(tokens))
    return {int(count): float(np.median(np.asarray(seconds)[numbers == count])) for count in np.unique(numbers)}


def _compared(result: dict) -> Comparison:
    ours, theirs = (Latency.of(seconds) for seconds in result["seconds"])
    names = result["model"].split("\n")
    return Comparison(names[0], names[1], result["length"], result["threads"], ours, theirs, theirs.p50 / ours.p50)


def _child(paths: list[str], **settings) -> dict:
    """What `measuring.measured` gives."""
    with temporary_folder("benchmark") as folder:
        options, answer = folder / "options.json", folder / "answer.json"
        options.write_text(json.dumps({"paths": paths, **settings, "answer": str(answer)}), "utf-8")
        result = run_module(CHILD, [options], SECONDS)
        if not result.ok:
            raise KerasBertError(
                f"expected a measurement of {paths[0]}, received a process with {result.failure_reason}"
            )
        result = read_json_object(answer)
    if "error" in result:
        raise KerasBertError(result["error"])
    return result


def _vocabulary_size(path: str) -> int:
    card = packed.read(path)
    return len(card.vocabulary) if card and card.vocabulary else _SAFE_IDS
