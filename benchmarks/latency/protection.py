"""What it costs to run a `.tflite` file that may be damaged: verified here, probed in a child, or run in a child.

    python -m benchmarks.latency.protection tiny.tflite small.tflite minilm.tflite

For each file, in turn in one run: `verified`, offsets, shapes, scales and the order of operators looked at; `probed`, a process that opens
and runs it once and ends; `digest`, its SHA-256, which a memory of probed files would need; `here` and `there`, from the path to the first
answer in this process and in one of its own; `row_here`, `row_there`, each further row.
"""

import argparse
import hashlib
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from benchmarks.common import record
from kerasbert.export.backends.subprocesses.probe import failure_reason
from kerasbert.export.runtime.predictor import open_predictor
from kerasbert.export.tflite.reader import check_structure

TEXT = "a gripping film"
ROWS = 200


def measured(path: Path, rounds: int) -> dict:
    """Milliseconds of each way."""
    seconds: dict[str, list[float]] = defaultdict(list)
    predictors = {"row_here": open_predictor(path), "row_there": open_predictor(path, isolated=True)}
    ways: dict[str, Callable] = {
        "verified": lambda: check_structure(path),
        "probed": lambda: failure_reason(path),
        "digest": lambda: hashlib.sha256(path.read_bytes()).hexdigest(),
        "here": lambda: open_predictor(path).answer([TEXT]),
        "there": lambda: open_predictor(path, isolated=True).answer([TEXT]),
        **{name: lambda predictor=predictor: predictor.answer([TEXT] * ROWS) for name, predictor in predictors.items()},
    }
    for way in ways.values():
        way()
    for number in range(rounds):
        for name in sorted(ways, reverse=bool(number % 2)):
            started = time.perf_counter()
            ways[name]()
            seconds[name].append(1e3 * (time.perf_counter() - started) / (ROWS if name.startswith("row") else 1))
    found = {f"{name}_ms": record.spread(values) for name, values in seconds.items()}
    extra = [there - here for here, there in zip(seconds["row_here"], seconds["row_there"], strict=True)]
    return {**record.file_facts(path), **found, "extra_ms_a_row": record.spread(extra)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=15)
    record.add_output(parser, "protection")
    arguments, load = parser.parse_args(), record.load()
    files = [measured(path, arguments.rounds) for path in arguments.files]
    for facts in files:
        medians = {name: round(value["median"], 3) for name, value in facts.items() if isinstance(value, dict)}
        print(facts["file"], facts["bytes"], medians)
    whole = statistics.median(facts["there_ms"]["median"] - facts["here_ms"]["median"] for facts in files)
    print(f"a process of its own: {whole:.0f} ms")
    record.write(arguments.json, {"files": files}, record.versions(["ai-edge-litert", "numpy"]), load)


if __name__ == "__main__":
    main()
