"""Time of an import, of commands and of a first training step: this checkout beside another one.

    git worktree add ../before COMMIT
    python -m benchmarks.latency.commits ../before

Measured: seconds of whole processes that take turns, with compiled Python files, and the ratio of each pair: `import kerasbert`; `predict`
of the shipped `intents` on 300 texts; `convert` of the shipped `small-en`; and within a process, `fit` of one step of `small-en`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import record
from kerasbert.errors import KerasBertError

ROOT = Path(__file__).parents[2]
TEXTS = "".join(f"please remind me to call number {number} tomorrow at six\n" for number in range(300))
FIRST_STEP = """
import time
import kerasbert as kb
task = kb.TextClassifier.from_pretrained("small-en", labels=["a", "b"], sequence_length=32)
task.compile(kb.adamw(1e-4, steps=10))
start = time.perf_counter()
task.fit(["a text to learn"] * 16, ["a", "b"] * 8, batch_size=16, epochs=1, verbose=0)
print(time.perf_counter() - start)
"""
CASES = {  # name -> arguments of Python, its standard input, and whether it prints the seconds itself
    "import": (["-c", "import kerasbert"], "", False),
    "predict": (["-m", "kerasbert", "predict", "intents", "-"], TEXTS, False),
    "convert": (["-m", "kerasbert", "convert", "small-en", "-o", "converted.tflite"], "", False),
    "first step of fit": (["-c", FIRST_STEP], "", True),
}


def main() -> None:
    """Time both checkouts in turn and write the result."""
    arguments = _arguments()
    load = record.load()
    if not (arguments.other / "kerasbert" / "__init__.py").is_file():
        raise KerasBertError(
            f"expected a checkout of kerasbert, received {arguments.other}; make one with git worktree"
        )
    checkouts = {"this": ROOT, "other": arguments.other.resolve()}
    result: dict = {"commits": {name: _commit(folder) for name, folder in checkouts.items()}, "cases": {}}
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.cases:
            seconds: dict[str, list[float]] = {side: [] for side in checkouts}
            for turn in range(arguments.runs + 1):
                for side, folder in checkouts.items():
                    taken = _seconds(folder, name, Path(work))
                    if turn:  # the first run compiles Python files
                        seconds[side].append(taken)
            row = {side: record.spread(values) for side, values in seconds.items()}
            result["cases"][name] = {**row, "ratio": record.ratio(seconds["this"], seconds["other"])}
            print(name, result["cases"][name], flush=True)
    record.write(arguments.json, result, record.versions(("tensorflow", "tf-keras", "numpy")), load)


def _seconds(checkout: Path, name: str, work: Path) -> float:
    command, text, prints = CASES[name]
    (work / "converted.tflite").unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONPYCACHEPREFIX": str(work / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command], input=text, capture_output=True, text=True, cwd=work, env=environment
    )
    taken = time.perf_counter() - start
    if done.returncode:
        raise KerasBertError(f"{name}: expected exit code 0 in {checkout}, received {done.stderr.strip()}")
    return float(done.stdout.split()[-1]) if prints else taken


def _commit(folder: Path) -> str:
    command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, metavar="FOLDER", help="the other checkout")
    parser.add_argument("--runs", type=int, default=9, metavar="N", help="runs of each side (9)")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    record.add_output(parser, "commits")
    return parser.parse_args()


if __name__ == "__main__":
    main()
