"""Loss of power at random moments while files and folders are written: what is on the disk afterwards, and what the synchronization costs.

    sudo python -m benchmarks.robustness.power_cuts
    sudo python -m benchmarks.robustness.power_cuts --cuts 20 --file-systems ext4

A file system is mounted from an image on XFS. A process saves a model folder and a file there again and again, and reports each finished
save. At a random moment the image is copied in one step (a reflink): the copy holds what the disk would hold after a loss of power. What
the kernel keeps in memory is lost. The copy is mounted, which replays its journal, and the outputs are read.

Measured for each file system, with synchronization and without: outputs that are complete, damaged or missing, and finished saves that
are gone. Then the time of a save with synchronization and without, in turns. Needs Linux, root, loop devices, xfsprogs, and the tools of
each file system; what is missing is reported as not run.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import record
from kerasbert.files.atomic import recover

HOST_BYTES, DISK_BYTES = 8 << 30, 320 << 20  # sparse
MAKE = {
    "ext4": (["mkfs.ext4", "-q", "-F"], ""),
    "ext4 data=writeback": (["mkfs.ext4", "-q", "-F"], "data=writeback"),
    "xfs": (["mkfs.xfs", "-q", "-f"], "nouuid"),
    "btrfs": (["mkfs.btrfs", "-q", "-f"], ""),
}
# The writer: argv has the folder, 1 to synchronize, and the number of saves (0: until it is killed).
WRITER = """
import sys
from pathlib import Path
from kerasbert.files import atomic, durability

folder, synchronize, count = Path(sys.argv[1]), sys.argv[2] == "1", int(sys.argv[3])
if not synchronize:
    durability._sync = lambda path, flags: None
version = 0
while not count or version < count:
    version += 1
    content = f"{version:09d}".encode() * 20_000
    with atomic.atomic_folder(folder / "model") as partial:
        (partial / "weights").write_bytes(content)
        (partial / "config").write_bytes(content[:9])
        (partial / "1_Pooling").mkdir()
        (partial / "1_Pooling" / "config").write_bytes(content[:9])
    with atomic.atomic_file(folder / "model.tflite") as partial:
        partial.write_bytes(content)
    print(version, flush=True)
"""


def main() -> None:
    """Cut the power on each file system and write the result."""
    arguments, load = _arguments(), record.load()
    draw = random.Random(arguments.seed)
    reason = _missing("mkfs.xfs", "mount", "losetup")
    result: dict = {"seed": arguments.seed, "cuts": arguments.cuts, "file_systems": {}}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as base:
        for name in arguments.file_systems:
            why = reason or _missing(MAKE[name][0][0])
            facts = {"not_run": why} if why else _measure(Path(base), name, arguments, draw)
            result["file_systems"][name] = facts
            print(name, json.dumps(facts), flush=True)
    record.write(arguments.json, result, record.versions(["kerasbert"]), load)


def _measure(base: Path, name: str, arguments: argparse.Namespace, draw: random.Random) -> dict:
    facts: dict = {}
    with _mounted(_image(base / "host.img", HOST_BYTES, ["mkfs.xfs", "-q", "-m", "reflink=1"]), base / "host"):
        for key, synchronize in {"synchronized": True, "not_synchronized": False}.items():
            counts: collections.Counter[str] = collections.Counter()
            for _ in range(arguments.cuts):
                counts.update(_cut(base, name, synchronize, draw.uniform(0.3, 1.5)))
            facts[key] = dict(counts)
        make, options = MAKE[name]
        with _mounted(_image(base / "host" / "disk.img", DISK_BYTES, make), base / "disk", options):
            facts["milliseconds"] = _times(base / "disk", arguments.saves)
    (base / "host.img").unlink()
    return facts


def _cut(base: Path, name: str, synchronize: bool, seconds: float) -> dict[str, int]:
    """Start the writer on a new disk, copy the disk after some seconds, and count what the copy holds."""
    disk, copy = base / "host" / "disk.img", base / "host" / "copy.img"
    make, options = MAKE[name]
    with _mounted(_image(disk, DISK_BYTES, make), base / "disk", options):
        os.sync()
        with subprocess.Popen(_writer(base / "disk", synchronize, 0), stdout=subprocess.PIPE) as process:
            output = process.stdout
            assert output is not None
            output.readline()  # the first save is complete
            os.set_blocking(output.fileno(), False)
            time.sleep(seconds)
            lines = (output.read() or b"").split()
            subprocess.run(["cp", "--reflink=always", disk, copy], check=True)
            process.kill()
    finished = int(lines[-1]) if lines else 1
    with _mounted(copy, base / "copy", options):
        counts = _state(base / "copy", finished)
    copy.unlink()
    disk.unlink()
    return {"cuts": 1, **counts}


def _state(folder: Path, finished: int) -> dict[str, int]:
    """Count the outputs that are complete, damaged or missing, and older than the last finished save."""
    counts: collections.Counter[str] = collections.Counter()
    with contextlib.suppress(OSError):
        recover(folder / "model", lambda path: True)
    for name, version in {
        "folder": _folder_version(folder / "model"),
        "file": _version(folder / "model.tflite"),
    }.items():
        counts[f"{name}_{'complete' if version > 0 else 'missing' if version == 0 else 'damaged'}"] += 1
        counts[f"{name}_save_lost"] += 0 < version < finished
    return dict(counts)


def _version(path: Path, repetitions: int = 20_000) -> int:
    """Return the version of a complete file, 0 for a missing one, and -1 for a damaged one."""
    if not path.is_file():
        return 0
    content = path.read_bytes()
    number = content[:9]
    return int(number) if number.isdigit() and content == number * repetitions else -1


def _folder_version(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    parts = [_version(folder / name, 1) for name in ("config", "1_Pooling/config")] + [_version(folder / "weights")]
    return parts[0] if len(set(parts)) == 1 and parts[0] > 0 else -1


def _times(folder: Path, saves: int) -> dict:
    """Measure the milliseconds of a save of a folder and a file, with synchronization and without, in turns."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(10):
        for synchronize in (True, False) if turn % 2 else (False, True):
            with subprocess.Popen(_writer(folder, synchronize, saves), stdout=subprocess.PIPE, text=True) as process:
                output = process.stdout
                assert output is not None
                output.readline()
                start = time.perf_counter()
                output.read()
                seconds[synchronize].append((time.perf_counter() - start) / max(1, saves - 1))
    named = {"synchronized": seconds[True], "not_synchronized": seconds[False]}
    return {name: record.spread([1e3 * value for value in values]) for name, values in named.items()}


def _writer(folder: Path, synchronize: bool, count: int) -> list[str]:
    return [sys.executable, "-c", WRITER, str(folder), str(int(synchronize)), str(count)]


def _image(path: Path, size: int, make: list[str]) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    subprocess.run([*make, path], check=True, stdout=subprocess.DEVNULL)
    return path


@contextlib.contextmanager
def _mounted(image: Path, place: Path, options: str = "") -> Iterator[None]:
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", ",".join(filter(None, ("loop", options))), image, place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def _missing(*programs: str) -> str:
    """Return why a measurement cannot run here, or ""."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux, to mount file systems"
    absent = [name for name in programs if shutil.which(name) is None]
    return f"needs {', '.join(absent)}" if absent else ""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cuts", type=int, default=100, help="cuts for each file system, with and without synchronization"
    )
    parser.add_argument("--saves", type=int, default=40, help="saves for each time")
    parser.add_argument("--file-systems", nargs="+", choices=MAKE, default=list(MAKE))
    parser.add_argument("--folder", help="scratch folder, on a disk that can be mounted from")
    parser.add_argument("--seed", type=int, default=int(np.random.default_rng().integers(1 << 31)))
    parser.add_argument("--json", default=record.RESULTS / "power_cuts.json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
