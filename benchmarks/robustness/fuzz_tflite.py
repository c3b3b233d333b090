"""Damaged `.tflite` files through readers, runtimes and commands: exceptions other than ours, crashes, hangs and runs over 1 GB.

    python -m benchmarks.robustness.fuzz_tflite float32.tflite static.tflite ... --files 5000 --commands 1000

Measured, as outcomes of damaged files:
- `readers`: parse, inspect and read the metadata.
- `verified`: run in this process if verification accepts the file.
- `unverified`: run without verification, as a baseline.
- `commands`: through the command line.

Every file is a small valid one with changed bytes, numbers, blocks, graph objects or metadata, or without its end. Each run has its own
process, so that a crash is counted.
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
from kerasbert.export.measurement.inspection import inspect
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH, find_runtime, open_model
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.model_file import ModelFile

SECONDS, BYTES = 60, 1 << 30
GOOD, REFUSED, FOREIGN, HUNG, LARGE = "ran", "refused in a line", "another exception", "hung", "over 1 GB"
TEXT = "good film"


def read(path: str) -> None:
    """Read a file in all ways that need no runtime.

    Raises:
        KerasBertError: When every reader refuses the file.
    """
    errors = []
    for reader in (inspect, metadata.read, ModelFile.read):
        try:
            reader(path)
        except KerasBertError as error:
            errors.append(error)
    if len(errors) == 3:
        raise errors[0]


def run_unverified(path: str) -> None:
    """Run a file in this process without verification."""
    open_model(path, verified=True, default_length=DEFAULT_LENGTH).run_ones()


def run_verified(path: str) -> None:
    """Run a file in this process if verification accepts it."""
    open_pipeline(path).predictions([TEXT])


def commands(data: Path) -> dict[str, Callable[[str], list[str]]]:
    """Build the command lines for a file, by name.

    Args:
        data: A file of labelled texts.
    """
    return {
        "predict": lambda path: ["predict", path, TEXT],
        "evaluate": lambda path: ["evaluate", path, "--data", str(data)],
        "inspect": lambda path: ["inspect", path],
        "inspect --targets": lambda path: ["inspect", path, "--targets"],
        "benchmark": lambda path: ["benchmark", path, "--runs", "1"],
    }


def run_command(arguments: Sequence[str]) -> None:
    """Run a command line in this process.

    Raises:
        KerasBertError: When the command ends with one line of error.
        RuntimeError: When it prints more lines, or hides another exception.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = command(list(arguments))
    lines = [line for line in err.getvalue().splitlines() if not line.startswith(("note:", "data.tsv"))]
    if code and (len(lines) != 1 or "--debug" in lines[0]):
        raise RuntimeError(err.getvalue())
    if code:
        raise KerasBertError(lines[0])


def outcome(work: Callable[[], None]) -> tuple[str, str]:
    """Run a function in a forked process.

    Returns:
        The outcome, and the message of an exception.
    """
    with tempfile.TemporaryFile() as message_file:
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _run_child(work, message_file.fileno())
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() - started > SECONDS:
                os.kill(pid, signal.SIGKILL)
                os.wait4(pid, 0)
                return HUNG, ""
            time.sleep(0.001)
        message_file.seek(0)
        message = message_file.read().decode("utf-8", "replace")
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name}", message
    if usage.ru_maxrss * 1024 > BYTES:
        return LARGE, message
    return {0: GOOD, 3: REFUSED}.get(os.waitstatus_to_exitcode(status), FOREIGN), message


def _run_child(work: Callable[[], None], message_file: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        work()
        code = 0
    except KerasBertError as error:
        code = 3 if "\n" not in str(error) and len(str(error)) <= 700 else 4
        os.write(message_file, str(error).encode()[:1000])
    except BaseException as error:
        code = 4
        os.write(message_file, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[-1000:])
    os._exit(code)


class Campaign:
    """Counts of outcomes, by way of use, with examples of faults.

    Attributes:
        counts: Outcomes by way.
        examples: Messages of faults by way.
    """

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self._arguments = arguments
        self._path = str(folder / "damaged.tflite")
        data = folder / "data.tsv"
        data.write_text(f"text\tlabel\n{TEXT}\tpositive\nbad end\tnegative\n")
        self._commands = commands(data)
        self.counts: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
        self.examples: dict[str, list[str]] = collections.defaultdict(list)

    def run(self) -> None:
        """Damage files and use each one in every way."""
        arguments, started = self._arguments, time.monotonic()
        sources, draw = [path.read_bytes() for path in arguments.files], np.random.default_rng(arguments.seed)
        for number in range(max(arguments.count, arguments.commands, arguments.unverified)):
            kind = DAMAGES[number % len(DAMAGES)]
            content = damaged(sources[int(draw.integers(len(sources)))], kind, draw, sources)
            Path(self._path).write_bytes(content)
            for way, work in self._works(number).items():
                self._use(number, kind, way, work)
            if number % 200 == 199:
                progress = {way: dict(outcomes) for way, outcomes in self.counts.items()}
                print(number + 1, f"{time.monotonic() - started:.0f} s", progress, flush=True)

    def _works(self, number: int) -> dict[str, Callable[[], None]]:
        path, arguments = self._path, self._arguments
        works: dict[str, Callable[[], None]] = {}
        if number < arguments.count:
            works |= {"readers": lambda: read(path), "verified": lambda: run_verified(path)}
        if number < arguments.unverified:
            works["unverified"] = lambda: run_unverified(path)
        if number < arguments.commands:
            name = list(self._commands)[number // len(DAMAGES) % len(self._commands)]
            works[f"commands: {name}"] = lambda: run_command(self._commands[name](path))
        return works

    def _use(self, number: int, kind: str, way: str, work: Callable[[], None]) -> None:
        end, message = outcome(work)
        self.counts[way][end] += 1
        if end in (GOOD, REFUSED):
            return
        self.examples[way].append(f"{kind}: {end} {message}"[:300])
        keep = self._arguments.keep
        if keep and way != "unverified":
            keep.mkdir(exist_ok=True)
            copy = Path(keep, f"{number}-{way.split()[0].strip(':')}-{kind}.tflite")
            copy.write_bytes(Path(self._path).read_bytes())

    @property
    def faults(self) -> int:
        """Bad outcomes of readers and commands."""
        ways = (way for way in self.counts if way.startswith(("readers", "commands")))
        return sum(count for way in ways for end, count in self.counts[way].items() if end not in (GOOD, REFUSED))


def main() -> None:
    """Fuzz and write the result; exits with 1 if readers or commands have faults."""
    arguments, load = _arguments(), record.load()
    find_runtime()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(arguments, Path(folder))
        campaign.run()
    seeds, earlier = [arguments.seed], {}
    if arguments.add and arguments.json.is_file():
        earlier = json.loads(arguments.json.read_text("utf-8"))
        seeds = [*earlier["seeds"], *seeds]
        for way, outcomes in earlier["outcomes"].items():
            campaign.counts[way].update(outcomes)
    examples = {
        way: [*earlier.get("examples", {}).get(way, []), *campaign.examples[way]][:10]
        for way in campaign.counts
        if way != "unverified"
    }
    result = {
        "seeds": seeds,
        "damages": list(DAMAGES),
        "sources": [record.file_facts(file) for file in arguments.files],
        "outcomes": {way: dict(sorted(outcomes.items())) for way, outcomes in sorted(campaign.counts.items())},
        "examples": {way: messages for way, messages in examples.items() if messages},
    }
    record.write(arguments.json, result, record.versions(["ai-edge-litert", "numpy", "flatbuffers"]), load)
    sys.exit(1 if campaign.faults else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="small .tflite files of a classifier, of several recipes")
    parser.add_argument("--files", dest="count", type=int, default=5000, help="damaged files for readers and runtime")
    parser.add_argument("--commands", type=int, default=1000, help="damaged files for the command line")
    parser.add_argument("--unverified", type=int, default=1000, help="damaged files that run without verification")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for files with bad outcomes")
    parser.add_argument("--add", action="store_true", help="add to the counts of an earlier result with other seeds")
    record.add_output(parser, "fuzz_tflite")
    return parser.parse_args()


if __name__ == "__main__":
    main()
