"""Time and peak memory of `kerasbert convert`, one child process for each recipe.

    python -m benchmarks.latency.conversion TASK_FOLDER --recipes dynamic_wi8_afp32 static_wi8_ai8

The time is what a user waits for: the interpreter's start and the imports are in it. Without `--recipes` every recipe
is tried, and one that a folder cannot give (static int8 of a float model, for one) is recorded with what the command
said.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import record

RECIPES = ("float32", "float16", "dynamic_wi8_afp32", "static_wi8_ai8")
PACKAGES = ("tensorflow", "tf-keras", "ai-edge-quantizer", "ai-edge-litert", "numpy")


def main() -> None:
    arguments = _arguments()
    load = record.load()
    recipes = {}
    with tempfile.TemporaryDirectory() as folder:
        for recipe in arguments.recipes:
            runs = [_convert(arguments, recipe, Path(folder) / f"{recipe}.tflite") for _ in range(arguments.runs)]
            recipes[recipe] = _summary(runs)
            print(f"{recipe:20s} {_line(recipes[recipe])}", flush=True)
    result = {
        "task_folder": Path(arguments.task_folder).name,
        "target": arguments.target,
        "options": arguments.options,
        "recipes": recipes,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)
    if all(facts["status"] == "failed" for facts in recipes.values()):
        raise SystemExit("expected at least one recipe to convert, received none")


def _convert(arguments, recipe: str, output: Path) -> dict:
    command = [
        sys.executable,
        "-c",
        "import sys; from kerasbert.cli import main; sys.exit(main())",
        "convert",
        arguments.task_folder,
    ]
    command += ["--recipe", recipe, "--target", arguments.target, "-o", str(output)]
    output.unlink(missing_ok=True)
    with tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen([*command, *arguments.options.split()], stdout=said, stderr=said)
        # wait4 tells this child's own peak; getrusage(RUSAGE_CHILDREN) would keep the highest of all children so far.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        last = (said.read().strip().splitlines() or ["nothing"])[-1]
    if process.returncode or not output.is_file():
        return {
            "exit_code": process.returncode,
            "said": last.replace(arguments.task_folder, Path(arguments.task_folder).name)[:300],
        }
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * unit,
        "file_bytes": output.stat().st_size,
    }


def _summary(runs: list[dict]) -> dict:
    if failed := [run for run in runs if "exit_code" in run]:
        return {"status": "failed", **failed[0]}
    summary = {
        name: record.spread([run[name] for run in runs]) for name in ("seconds", "processor_seconds", "peak_bytes")
    }
    return {"status": "converted", "file_bytes": runs[0]["file_bytes"], **summary}


def _line(facts: dict) -> str:
    if facts["status"] == "failed":
        return f"failed with exit code {facts['exit_code']}: {facts['said']}"
    peak, size = facts["peak_bytes"]["max"] / 1e9, facts["file_bytes"] / 1e6
    return f"{facts['seconds']['median']:6.1f} s  {peak:5.2f} GB at its peak  {size:6.1f} MB"


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task_folder", help="what `kerasbert train` or `kerasbert quantize` wrote")
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), metavar="RECIPE")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--options", default="", help="further options for `kerasbert convert`, in one string")
    parser.add_argument("--runs", type=int, default=3)
    record.add_output(parser, "conversion")
    return parser.parse_args()


if __name__ == "__main__":
    main()
