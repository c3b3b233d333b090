"""Damaged `.tflite` files through all that reads or runs one: how many end in a foreign exception, a crash, a hang, or over 1 GB.

    python -m benchmarks.robustness.fuzz_tflite float32.tflite static.tflite ... --files 5000 --commands 1000

Every file is a small one with bytes, words, a block, its end, an object of its graph or its card changed. `readers`: parsed, inspected and
its card read. `verified`: run in a process without protection, if verification lets it pass; `unverified`: run as it is, as a comparison.
`commands`: through the command line. Each run is a process of its own, so that a crash is counted.
"""

import argparse
import collections
import contextlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.robustness.damage import DAMAGES, damaged
from kerasbert.cli import main as command
from kerasbert.errors import KerasBertError
from kerasbert.export.inspection import inspect
from kerasbert.export.runtime.interpreters import find_runtime, open_at_any_length
from kerasbert.export.runtime.predictor import open_predictor
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.reader import check_structure

SECONDS, BYTES = 60, 1 << 30
GOOD, REFUSED, FOREIGN, HUNG, LARGE = "ran", "refused in a line", "another exception", "hung", "over 1 GB"
TEXT = "good film"


def read(path: str) -> None:
    """What no runtime takes part in."""
    found = []
    for reader in (inspect, metadata.read, check_structure):
        try:
            reader(path)
        except KerasBertError as error:
            found.append(error)
    if len(found) == 3:
        raise found[0]


def run(path: str) -> None:
    """Opens and runs a file here, without verification."""
    model = open_at_any_length(path, verified=True)
    model.fill({name: np.ones(port.shape, port.dtype) for name, port in model.inputs.items()})
    model.invoke()
    model.fetch()


def run_verified(path: str) -> None:
    open_predictor(path).answer([TEXT])


def commands(data: Path) -> dict[str, Callable[[str], list[str]]]:
    """The command lines that a file goes through."""
    return {
        "predict": lambda path: ["predict", path, TEXT],
        "evaluate": lambda path: ["evaluate", path, "--data", str(data)],
        "inspect": lambda path: ["inspect", path],
        "inspect --targets": lambda path: ["inspect", path, "--targets"],
        "benchmark": lambda path: ["benchmark", path, "--runs", "1"],
    }


def run_command(words: Sequence[str]) -> None:
    """Raises what the command's one line says: KerasBertError for one of ours, RuntimeError for more lines, and for other exceptions."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = command(list(words))
    lines = [line for line in err.getvalue().splitlines() if not line.startswith(("note:", "data.tsv"))]
    if code and (len(lines) != 1 or "--debug" in lines[0]):
        raise RuntimeError(err.getvalue())
    if code:
        raise KerasBertError(lines[0])


def outcome(work: Callable[[], None]) -> tuple[str, str]:
    """How some work in a forked process ends, and its words where it ends in another exception."""
    with tempfile.TemporaryFile() as words:
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _child(work, words.fileno())
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() - started > SECONDS:
                os.kill(pid, signal.SIGKILL)
                os.wait4(pid, 0)
                return HUNG, ""
            time.sleep(0.001)
        words.seek(0)
        said = words.read().decode("utf-8", "replace")
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name}", said
    if usage.ru_maxrss * 1024 > BYTES:
        return LARGE, said
    return {0: GOOD, 3: REFUSED}.get(os.waitstatus_to_exitcode(status), FOREIGN), said


def _child(work: Callable[[], None], words: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        work()
        code = 0
    except KerasBertError as error:
        code = 3 if "\n" not in str(error) and len(str(error)) <= 700 else 4
        os.write(words, str(error).encode()[:1000])
    except BaseException as error:
        code = 4
        os.write(words, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[-1000:])
    os._exit(code)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", help="small .tflite files of a classifier, from several recipes")
    parser.add_argument(
        "--files", dest="count", type=int, default=5000, help="damaged files for the readers and in one process each"
    )
    parser.add_argument("--commands", type=int, default=1000, help="damaged files for the command line")
    parser.add_argument("--unverified", type=int, default=1000, help="damaged files that run without verification")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for files that ended badly")
    parser.add_argument("--add", action="store_true", help="add to the counts of an earlier result with other seeds")
    record.add_output(parser, "fuzz_tflite")
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    find_runtime()
    sources, draw, load = (
        [path.read_bytes() for path in arguments.files],
        np.random.default_rng(arguments.seed),
        record.load(),
    )
    counts: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    examples: dict[str, list[str]] = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        path, data = os.path.join(folder, "damaged.tflite"), Path(folder, "data.tsv")
        data.write_text(f"text\tlabel\n{TEXT}\tpositive\nbad end\tnegative\n")
        words = commands(data)
        started = time.monotonic()
        for number in range(max(arguments.count, arguments.commands, arguments.unverified)):
            kind = DAMAGES[number % len(DAMAGES)]
            Path(path).write_bytes(damaged(sources[int(draw.integers(len(sources)))], kind, draw, sources))
            works = (
                {"readers": lambda: read(path), "verified": lambda: run_verified(path)}
                if number < arguments.count
                else {}
            )
            if number < arguments.unverified:
                works["unverified"] = lambda: run(path)
            if number < arguments.commands:
                name = list(words)[number // len(DAMAGES) % len(words)]
                works[f"commands: {name}"] = lambda name=name: run_command(words[name](path))
            for way, work in works.items():
                end, said = outcome(work)
                counts[way][end] += 1
                if end not in (GOOD, REFUSED):
                    examples[way].append(f"{kind}: {end} {said}"[:300])
                    if arguments.keep and way != "unverified":
                        arguments.keep.mkdir(exist_ok=True)
                        Path(arguments.keep, f"{number}-{way.split()[0].strip(':')}-{kind}.tflite").write_bytes(
                            Path(path).read_bytes()
                        )
            if number % 200 == 199:
                print(
                    number + 1,
                    f"{time.monotonic() - started:.0f} s",
                    {way: dict(ends) for way, ends in counts.items()},
                    flush=True,
                )
    seeds, earlier = [arguments.seed], {}
    if arguments.add and arguments.json.is_file():
        earlier = json.loads(arguments.json.read_text("utf-8"))
        seeds = [*earlier["seeds"], *seeds]
        for way, ends in earlier["outcomes"].items():
            counts[way].update(ends)
    lines = {
        way: [*earlier.get("examples", {}).get(way, []), *examples[way]][:10] for way in counts if way != "unverified"
    }
    result = {
        "seeds": seeds,
        "damages": list(DAMAGES),
        "sources": [record.file_facts(file) for file in arguments.files],
        "outcomes": {way: dict(sorted(ends.items())) for way, ends in sorted(counts.items())},
        "examples": {way: shown for way, shown in lines.items() if shown},
    }
    record.write(arguments.json, result, record.versions(["ai-edge-litert", "numpy", "flatbuffers"]), load)
    bad = sum(count for way, ends in counts.items() if way.startswith(("readers", "commands")) for end, count in ends.items()
              if end not in (GOOD, REFUSED))  # fmt: skip
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
