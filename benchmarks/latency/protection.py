"""Cost of running a `.tflite` file that may be damaged: verification, a probe process, or inference in a separate process.

    python -m benchmarks.latency.protection tiny.tflite small.tflite minilm.tflite

Measured, in turn for each file:
- `verified`: check offsets, shapes, scales and the order of operators.
- `probed`: start a process that opens and runs the file once.
- `digest`: SHA-256 of the file, which a cache of probed files would need.
- `here` and `there`: from the path to the first answer, in this process and in a separate one.
- `row_here` and `row_there`: each further row.
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
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite.model_file import ModelFile

TEXT = "a gripping film"
ROWS = 200


def measure(path: Path, rounds: int) -> dict:
    """Measure the milliseconds of each way; the ways take turns."""
    seconds: dict[str, list[float]] = defaultdict(list)
    predictors = {"row_here": open_pipeline(path), "row_there": open_pipeline(path, isolated=True)}
    ways: dict[str, Callable] = {
        "verified": lambda: ModelFile.read(path),
        "probed": lambda: failure_reason(path),
        "digest": lambda: hashlib.sha256(path.read_bytes()).hexdigest(),
        "here": lambda: open_pipeline(path).predictions([TEXT]),
        "there": lambda: open_pipeline(path, isolated=True).predictions([TEXT]),
        **{
            name: lambda predictor=predictor: predictor.predictions([TEXT] * ROWS)
            for name, predictor in predictors.items()
        },
    }
    for way in ways.values():
        way()
    for number in range(rounds):
        for name in sorted(ways, reverse=bool(number % 2)):
            started = time.perf_counter()
            ways[name]()
            seconds[name].append(1e3 * (time.perf_counter() - started) / (ROWS if name.startswith("row") else 1))
    milliseconds = {f"{name}_ms": record.spread(values) for name, values in seconds.items()}
    extra = [there - here for here, there in zip(seconds["row_here"], seconds["row_there"], strict=True)]
    return {**record.file_facts(path), **milliseconds, "extra_ms_a_row": record.spread(extra)}


def main() -> None:
    """Measure all files and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=15)
    record.add_output(parser, "protection")
    arguments, load = parser.parse_args(), record.load()
    files = [measure(path, arguments.rounds) for path in arguments.files]
    for facts in files:
        medians = {name: round(value["median"], 3) for name, value in facts.items() if isinstance(value, dict)}
        print(facts["file"], facts["bytes"], medians)
    process_cost = statistics.median(facts["there_ms"]["median"] - facts["here_ms"]["median"] for facts in files)
    print(f"a separate process: {process_cost:.0f} ms")
    record.write(arguments.json, {"files": files}, record.versions(["ai-edge-litert", "numpy"]), load)


if __name__ == "__main__":
    main()
