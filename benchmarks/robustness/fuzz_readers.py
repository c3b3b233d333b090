"""Every reader of files on damaged inputs: each must return or raise `KerasBertError`, quickly and with little memory.

    python -m benchmarks.robustness.fuzz_readers
    python -m benchmarks.robustness.fuzz_readers --inputs 2000 --reader table --reader squad
    python -m benchmarks.robustness.fuzz_readers --replay table 1234

Measured: accepted and refused inputs, other exceptions, messages longer than a line, hangs, crashes, peak memory and the slowest input.
By default each reader gets 20,000 inputs, in child processes. Every other input of a reader of settings has one value of another type
(`type_confusion`), all values in turn.

An input is determined by the reader's name and its number: `--replay` reads one input and shows its traceback.
"""

import argparse
import contextlib
import functools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import record
from benchmarks.robustness import type_confusion
from benchmarks.robustness.fuzz_mutations import Mutator
from benchmarks.robustness.fuzz_targets import Target, files_of, targets
from kerasbert.errors import MAX_LENGTH, KerasBertError

SECONDS = 10  # an input that takes longer counts as a hang
MEMORY = 1 << 30  # above the memory of the imported libraries
BATCH = 2000  # inputs of one child process


@dataclass
class Counts:
    """Outcomes of a reader's inputs.

    Attributes:
        inputs: All inputs.
        accepted: Inputs that the reader accepted.
        refused: Inputs that it refused by `KerasBertError`.
        foreign: Other faults, by exception class.
        first: The number of the first input of each fault.
        hangs: Inputs that took too long.
        crashes: Ends of the process.
        out_of_memory: Inputs that took too much memory.
        slowest_seconds: The longest time of an input.
        peak_mb: The largest growth of memory.
    """

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    foreign: Counter = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)
    hangs: int = 0
    crashes: int = 0
    out_of_memory: int = 0
    slowest_seconds: float = 0.0
    peak_mb: int = 0

    def note(self, fault: str, number: int) -> None:
        """Count a fault of an input."""
        self.foreign[fault] += 1
        self.first.setdefault(fault, number)

    def add(self, other: "Counts") -> None:
        """Add the counts of more inputs."""
        for name in ("inputs", "accepted", "refused", "hangs", "crashes", "out_of_memory"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.foreign.update(other.foreign)
        self.first = {**other.first, **self.first}
        self.slowest_seconds = max(self.slowest_seconds, other.slowest_seconds)
        self.peak_mb = max(self.peak_mb, other.peak_mb)

    @property
    def clean(self) -> bool:
        """Whether there were no faults."""
        return not (self.foreign or self.hangs or self.crashes or self.out_of_memory)


class Hang(BaseException):
    """An input took too long."""


def damaged(target: Target, number: int, seeds: list[dict[str, bytes]]) -> tuple[dict[str, bytes], str]:
    """Make an input of a reader, the same on every run.

    Args:
        target: The reader.
        number: Of the input.
        seeds: Its valid inputs.

    Returns:
        The files by name, and the name of the damaged one.
    """
    if number % 2 and (changes := _confusions(target.name)):
        seed, name, change = changes[number // 2 % len(changes)]
        return {**seeds[seed], name: type_confusion.apply(name, seeds[seed][name], change)}, name
    mutator = Mutator(zlib.crc32(f"{target.name} {number}".encode()))
    files = dict(mutator.random.choice(seeds))
    name = mutator.random.choice(files_of(target, files))
    others = [seed[name] for seed in seeds if name in seed]
    files[name] = mutator.mutate_file(name, files[name], others)
    return files, name


@functools.cache
def _confusions(name: str) -> list[tuple[int, str, int]]:
    """List the changes of a type in the settings of a reader; none for a reader of other data."""
    target = _target_named(name)
    seeds = target.seeds()
    return type_confusion.confused(seeds, {number: files_of(target, files) for number, files in enumerate(seeds)})


def fuzz(target: Target, start: int, count: int, folder: Path, progress: Callable[[int], None] | None = None) -> Counts:
    """Read inputs in this process.

    Args:
        target: The reader.
        start: The number of the first input.
        count: The number of inputs.
        folder: An empty folder for the files.
        progress: Called with each number before its input is read.
    """
    seeds, counts = target.seeds(), Counts()
    current: dict[str, bytes] = {}
    for files in seeds:  # reading the valid inputs also makes the slow first imports
        _clear(folder)
        for name, data in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        target.read(folder)
    _clear(folder)
    with _alarm():
        for number in range(start, start + count):
            files, _ = damaged(target, number, seeds)
            for name in current.keys() - files.keys():
                (folder / name).unlink()
            for name, data in files.items():
                if current.get(name) is not data:
                    (folder / name).parent.mkdir(exist_ok=True)
                    (folder / name).write_bytes(data)
            current = files
            if progress is not None:
                progress(number)
            _read(target, number, folder, counts)
    return counts


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink() if path.is_file() else shutil.rmtree(path)


def _read(target: Target, number: int, folder: Path, counts: Counts) -> None:
    started, before = time.perf_counter(), _peak_memory()
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        target.read(folder)
        counts.accepted += 1
    except KerasBertError as error:
        counts.refused += 1
        message = str(error)
        if "\n" in message or len(message) > MAX_LENGTH or not message.isprintable() and not _is_unicode(message):
            counts.note("a message that is no line of text", number)
    except Hang:
        counts.hangs += 1
        counts.first.setdefault("hang", number)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a Rust panic is not an Exception
        counts.note(type(error).__name__, number)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    counts.inputs += 1
    counts.slowest_seconds = max(counts.slowest_seconds, time.perf_counter() - started)
    counts.peak_mb = max(counts.peak_mb, (_peak_memory() - before) >> 20)
    if _peak_memory() - before > MEMORY:
        counts.out_of_memory += 1
        counts.first.setdefault("memory", number)


def _is_unicode(message: str) -> bool:
    try:
        message.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def _fuzz_in_children(target: Target, count: int) -> Counts:
    """Read inputs in child processes; after a crash the next process continues with the next input."""
    counts, number = Counts(), 0
    while number < count:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
            result_file, progress_file = Path(scratch, "result.json"), Path(scratch, "progress")
            size = min(BATCH, count - number)
            command = [
                sys.executable,
                "-m",
                "benchmarks.robustness.fuzz_readers",
                "--child",
                target.name,
                str(number),
                str(size),
                scratch,
            ]
            try:
                exit_code = subprocess.run(command, stderr=subprocess.DEVNULL, timeout=SECONDS * 60).returncode
            except subprocess.TimeoutExpired:
                exit_code = "hang"
            if result_file.is_file():
                result = json.loads(result_file.read_text())
                counts.add(Counts(**{**result, "foreign": Counter(result["foreign"])}))
                number += size
                continue
            reached = int(progress_file.read_text() or number) if progress_file.is_file() else number
            counts.inputs += reached - number + 1
            counts.hangs += exit_code == "hang"
            counts.crashes += exit_code != "hang"
            counts.first.setdefault(f"ended {exit_code}", reached)
            number = reached + 1
    return counts


def _run_child(name: str, start: int, count: int, scratch: Path) -> None:
    target = _target_named(name)
    folder = scratch / "files"
    folder.mkdir()
    with (scratch / "progress").open("w") as progress_file:

        def progress(number: int) -> None:
            progress_file.seek(0)
            progress_file.write(str(number))
            progress_file.flush()

        fuzz(target, 0, 0, folder)  # imports
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + 6 * MEMORY, used + 6 * MEMORY))
        counts = fuzz(target, start, count, folder, progress)
    (scratch / "result.json").write_text(json.dumps(vars(counts)))


def _target_named(name: str) -> Target:
    return next(target for target in targets() if target.name == name)


def main() -> None:
    """Fuzz all readers and write the result; exits with 1 if any has faults."""
    arguments = _arguments()
    if arguments.child:
        name, start, count, scratch = arguments.child
        return _run_child(name, int(start), int(count), Path(scratch))
    if arguments.replay:
        return _replay(_target_named(arguments.replay[0]), int(arguments.replay[1]))
    packages = record.versions(("numpy", "tokenizers", "safetensors", "sentencepiece", "tensorflow", "keras-nlp"))
    load, results = record.load(), {}
    for target in sorted(targets(), key=lambda target: target.slow):
        if arguments.reader and target.name not in arguments.reader:
            continue
        counts = _fuzz_in_children(target, arguments.inputs)
        results[target.name] = {**vars(counts), "slowest_seconds": round(counts.slowest_seconds, 3)}
        _print_counts(target.name, counts)
        total = sum(row["inputs"] for row in results.values())
        record.write(
            arguments.json, {"inputs": total, "readers": results}, packages, load
        )  # also if the rest is interrupted
    clean = all(not row["foreign"] and not row["crashes"] and not row["hangs"] for row in results.values())
    sys.exit(0 if clean else 1)


def _print_counts(name: str, counts: Counts) -> None:
    faults = ", ".join(f"{fault} {times} (first {counts.first[fault]})" for fault, times in counts.foreign.items())
    others = {"hang": counts.hangs, "crash": counts.crashes, "over 1 GB": counts.out_of_memory}
    faults = ", ".join([faults, *(f"{fault} {times}" for fault, times in others.items() if times)]).strip(", ")
    print(
        f"{name:26} {counts.inputs:7,} inputs, {counts.accepted:6,} accepted, {counts.refused:7,} refused, "
        f"{counts.peak_mb:4} MB, {counts.slowest_seconds:5.2f} s: {faults or 'clean'}",
        flush=True,
    )


def _replay(target: Target, number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files, name = damaged(target, number, target.seeds())
        for path, data in files.items():
            Path(folder, path).parent.mkdir(exist_ok=True)
            Path(folder, path).write_bytes(data)
        print(f"{name}: {files[name][:2000]!r}")
        target.read(Path(folder))
        print("accepted")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=20_000, metavar="N", help="inputs of each reader")
    parser.add_argument("--reader", action="append", metavar="NAME", help="only this reader; can be repeated")
    parser.add_argument("--replay", nargs=2, metavar=("READER", "NUMBER"), help="read one input, with its traceback")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    record.add_output(parser, "fuzz_readers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
