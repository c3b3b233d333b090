"""Every reader of files against damaged ones: what comes out must be an answer or `KerasBertError`, soon, and in little memory.

    python -m benchmarks.robustness.fuzz_readers                    20,000 inputs a reader, each reader in child processes of its own
    python -m benchmarks.robustness.fuzz_readers --inputs 2000 --reader table --reader squad
    python -m benchmarks.robustness.fuzz_readers --replay table 1234

An input is fixed by the reader's name and its number: `--replay` reads one alone and shows its traceback.
"""

import argparse
import contextlib
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
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.robustness.fuzz_mutations import Mutator
from benchmarks.robustness.fuzz_targets import Target, files_of, targets
from kerasbert.errors import MAX_LENGTH, KerasBertError

SECONDS = 10  # an input that takes longer hangs
MEMORY = 1 << 30  # beyond what the reader's own libraries take
BATCH = 2000  # inputs of one child process


@dataclass
class Counts:
    """What became of a reader's inputs. foreign: classes of other exceptions, with the number of the first input of each."""

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
        self.foreign[fault] += 1
        self.first.setdefault(fault, number)

    def add(self, other: "Counts") -> None:
        for name in ("inputs", "accepted", "refused", "hangs", "crashes", "out_of_memory"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.foreign.update(other.foreign)
        self.first = {**other.first, **self.first}
        self.slowest_seconds = max(self.slowest_seconds, other.slowest_seconds)
        self.peak_mb = max(self.peak_mb, other.peak_mb)

    @property
    def clean(self) -> bool:
        return not (self.foreign or self.hangs or self.crashes or self.out_of_memory)


class Hang(BaseException):
    """An input took too long."""


def damaged(target: Target, number: int, seeds: list[dict[str, bytes]]) -> tuple[dict[str, bytes], str]:
    """Input `number` of a reader, the same for ever: the files, and the name of the damaged one."""
    mutator = Mutator(zlib.crc32(f"{target.name} {number}".encode()))
    files = dict(mutator.random.choice(seeds))
    name = mutator.random.choice(files_of(target, files))
    others = [other[name] for other in seeds if name in other]
    files[name] = mutator.file(name, files[name], others)
    return files, name


def fuzz(target: Target, start: int, count: int, folder: Path, progress=None) -> Counts:
    """Reads `count` inputs from number `start` on in this process. progress: called with each number before it is read."""
    seeds, counts, there = target.seeds(), Counts(), {}
    for files in seeds:  # the whole ones are read, and what a first call imports takes its time
        _clear(folder)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        target.read(folder)
    _clear(folder)
    with _alarm():
        for number in range(start, start + count):
            files, _ = damaged(target, number, seeds)
            for name in there.keys() - files.keys():
                (folder / name).unlink()
            for name, data in files.items():
                if there.get(name) is not data:
                    (folder / name).write_bytes(data)
            there = files
            if progress is not None:
                progress(number)
            _read(target, number, folder, counts)
    return counts


def _clear(folder: Path) -> None:
    for left in folder.iterdir():
        left.unlink() if left.is_file() else shutil.rmtree(left)


def _read(target: Target, number: int, folder: Path, counts: Counts) -> None:
    started, before = time.perf_counter(), _peak()
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        target.read(folder)
        counts.accepted += 1
    except KerasBertError as error:
        counts.refused += 1
        told = str(error)
        if "\n" in told or len(told) > MAX_LENGTH or not told.isprintable() and _unprintable(told):
            counts.note("a message that is no line of text", number)
    except Hang:
        counts.hangs += 1
        counts.first.setdefault("hang", number)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of Rust is no Exception
        counts.note(type(error).__name__, number)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    counts.inputs += 1
    counts.slowest_seconds = max(counts.slowest_seconds, time.perf_counter() - started)
    counts.peak_mb = max(counts.peak_mb, (_peak() - before) >> 20)
    if _peak() - before > MEMORY:
        counts.out_of_memory += 1
        counts.first.setdefault("memory", number)


def _unprintable(told: str) -> bool:
    try:
        told.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@contextlib.contextmanager
def _alarm():
    def ring(*_):
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def _in_children(target: Target, count: int) -> Counts:
    """The inputs in child processes: one that crashes is counted, and the next goes on behind its input."""
    counts, number = Counts(), 0
    while number < count:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
            answer, place = Path(scratch, "answer.json"), Path(scratch, "place")
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
                ended = subprocess.run(command, stderr=subprocess.DEVNULL, timeout=SECONDS * 60).returncode
            except subprocess.TimeoutExpired:
                ended = "hang"
            if answer.is_file():
                found = json.loads(answer.read_text())
                counts.add(Counts(**{**found, "foreign": Counter(found["foreign"])}))
                number += size
                continue
            reached = int(place.read_text() or number) if place.is_file() else number
            counts.inputs += reached - number + 1
            counts.hangs += ended == "hang"
            counts.crashes += ended != "hang"
            counts.first.setdefault(f"ended {ended}", reached)
            number = reached + 1
    return counts


def _child(name: str, start: int, count: int, scratch: Path) -> None:
    target = _named(name)
    folder = scratch / "files"
    folder.mkdir()
    with (scratch / "place").open("w") as place:

        def progress(number: int) -> None:
            place.seek(0)
            place.write(str(number))
            place.flush()

        fuzz(target, 0, 0, folder)  # imports
        held = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (held + 6 * MEMORY, held + 6 * MEMORY))
        counts = fuzz(target, start, count, folder, progress)
    (scratch / "answer.json").write_text(json.dumps(vars(counts)))


def _named(name: str) -> Target:
    return next(target for target in targets() if target.name == name)


def main() -> None:
    from benchmarks.common import record

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=20_000, metavar="N", help="inputs of each reader")
    parser.add_argument("--reader", action="append", metavar="NAME", help="only this reader; may be given again")
    parser.add_argument("--replay", nargs=2, metavar=("READER", "NUMBER"), help="read one input, with its traceback")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    record.add_output(parser, "fuzz_readers")
    arguments = parser.parse_args()
    if arguments.child:
        name, start, count, scratch = arguments.child
        return _child(name, int(start), int(count), Path(scratch))
    if arguments.replay:
        return _replay(_named(arguments.replay[0]), int(arguments.replay[1]))
    results = {}
    for target in targets():
        if arguments.reader and target.name not in arguments.reader:
            continue
        counts = _in_children(target, arguments.inputs // 20 if target.slow else arguments.inputs)
        results[target.name] = {**vars(counts), "slowest_seconds": round(counts.slowest_seconds, 3)}
        faults = ", ".join(f"{fault} {times} (first {counts.first[fault]})" for fault, times in counts.foreign.items())
        others = {"hang": counts.hangs, "crash": counts.crashes, "over 1 GB": counts.out_of_memory}
        faults = ", ".join([faults, *(f"{name} {times}" for name, times in others.items() if times)]).strip(", ")
        print(
            f"{target.name:26} {counts.inputs:7,} inputs, {counts.accepted:6,} accepted, {counts.refused:7,} refused, "
            f"{counts.peak_mb:4} MB, {counts.slowest_seconds:5.2f} s: {faults or 'clean'}",
            flush=True,
        )
    packages = record.versions(("numpy", "tokenizers", "safetensors", "sentencepiece", "tensorflow", "keras-nlp"))
    record.write(arguments.json, {"readers": results}, packages)
    sys.exit(
        0 if all(not row["foreign"] and not row["crashes"] and not row["hangs"] for row in results.values()) else 1
    )


def _replay(target: Target, number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files, name = damaged(target, number, target.seeds())
        for each, data in files.items():
            Path(folder, each).write_bytes(data)
        print(f"{name}: {files[name][:2000]!r}")
        target.read(Path(folder))
        print("accepted")


if __name__ == "__main__":
    main()
