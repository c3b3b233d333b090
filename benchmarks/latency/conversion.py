"""Time and peak memory of `kerasbert convert`, one process per run.

    python -m benchmarks.latency.conversion TASK_FOLDER --recipes dynamic_wi8_afp32 static_wi8_ai8

Measured: seconds from start to end of the process, including imports, processor time, peak resident memory and file size. Without
`--recipes` every recipe is tried. Recipes that the folder does not support, such as static int8 of a float model, are recorded with the
command's error.
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
    """Convert by each recipe and write the result."""
    arguments = _arguments()
    load = record.load()
    recipes = {}
    with tempfile.TemporaryDirectory() as folder:
        for recipe in arguments.recipes:
            runs = [_convert(arguments, recipe, Path(folder) / f"{recipe}.tflite") for _ in range(arguments.runs)]
            recipes[recipe] = _summary(runs)
            print(f"{recipe:20s} {_format_line(recipes[recipe])}", flush=True)
    result = {
        "task_folder": Path(arguments.task_folder).name,
        "target": arguments.target,
        "options": arguments.options,
        "recipes": recipes,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)
    if all(facts["status"] == "failed" for facts in recipes.values()):
        raise SystemExit("expected at least one successful conversion, received none; see the errors above")


def _convert(arguments: argparse.Namespace, recipe: str, output: Path) -> dict:
    command = [
        sys.executable,
        "-c",
        "import sys; from kerasbert.cli import main; sys.exit(main())",
        "convert",
        arguments.task_folder,
    ]
    command += ["--recipe", recipe, "--target", arguments.target, "-o", str(output)]
    output.unlink(missing_ok=True)
    with tempfile.TemporaryFile("w+") as output_text:
        start = time.perf_counter()
        process = subprocess.Popen([*command, *arguments.options.split()], stdout=output_text, stderr=output_text)
        # wait4 returns the peak of this child; getrusage(RUSAGE_CHILDREN) has the maximum over all children.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output_text.seek(0)
        last_line = (output_text.read().strip().splitlines() or ["nothing"])[-1]
    if process.returncode or not output.is_file():
        return {
            "exit_code": process.returncode,
            "said": last_line.replace(arguments.task_folder, Path(arguments.task_folder).name)[:300],
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


def _format_line(facts: dict) -> str:
    if facts["status"] == "failed":
        return f"failed with exit code {facts['exit_code']}: {facts['said']}"
    peak, size = facts["peak_bytes"]["max"] / 1e9, facts["file_bytes"] / 1e6
    return f"{facts['seconds']['median']:6.1f} s  {peak:5.2f} GB peak  {size:6.1f} MB"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task_folder", help="output of `kerasbert train` or `kerasbert quantize`")
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), metavar="RECIPE")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--options", default="", help="more options for `kerasbert convert`, in one string")
    parser.add_argument("--runs", type=int, default=3)
    record.add_output(parser, "conversion")
    return parser.parse_args()


if __name__ == "__main__":
    main()
