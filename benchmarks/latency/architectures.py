"""Every preset with random weights: parameters, file sizes, CPU latency, and memory for conversion and inference.

    python -m benchmarks.latency.architectures --presets bert-tiny albert-base mobilebert --lengths 32 128 384

Measured: the median latency on one thread with full rows, file sizes of each recipe, and peak memory. Its tables and plot are in
docs/results/ (`benchmarks.reports.results_pages`).

Every step runs in its own process, so that its peak memory can be measured. One builds the Keras model, runs it once and converts it
(float32, then dynamic int8 with a resizable length); others run the int8 file. Two checks are included: an ALBERT file contains its shared
block once, and BERT-large is built, converted and run within 8 GB.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import record
from kerasbert.console.numbers import format_bytes, format_seconds
from kerasbert.export.measurement.benchmarking import benchmark

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-quantizer", "ai-edge-litert", "numpy")
BUILD_LENGTH = 128
MEMORY_LIMIT = {"bert-large": 8 * 2**30}  # bytes
ALBERT_BASE = {
    "float32": 1.05 * 4 * 11.68e6,
    "dynamic_wi8_afp32": 12.5e6,
    "static_wi8_ai8": 12.5e6,
}  # bytes, for a vocabulary of 30,000


def main() -> None:
    """Measure every preset and write the result."""
    arguments = _arguments()
    if arguments.child:
        print(json.dumps(_build_and_convert(**json.loads(arguments.child))))
        return
    load, measured = record.load(), {}
    for name in _preset_names(arguments.presets):
        measured[name] = _measure(name, arguments)
        print(_summary(name, measured[name], arguments.lengths), flush=True)
        # Written after each preset, because all of them take a quarter of an hour.
        failed = _failed_checks(measured)
        result = {"lengths": arguments.lengths, "presets": measured, "failed_checks": failed}
        record.write(arguments.json, result, record.versions(PACKAGES), load)
    if failed:
        raise SystemExit(f"expected every check to pass, received {'; '.join(failed)}")


def _preset_names(names: list[str] | None) -> list[str]:
    from kerasbert.encoders import PRESETS

    if unknown := [name for name in names or () if name not in PRESETS]:
        raise SystemExit(f"expected presets of {', '.join(PRESETS)}, received {', '.join(unknown)}")
    return names or list(PRESETS)


def _measure(name: str, arguments: argparse.Namespace) -> dict:
    """Measure one preset; a failed step leaves an `error` with the facts measured before it."""
    with tempfile.TemporaryDirectory() as folder:
        facts = {"recipes": {}}
        for recipe in _recipes(name, arguments):
            options = {"name": name, "recipe": recipe, "folder": folder, "length": arguments.build_length}
            process = subprocess.run(
                [sys.executable, "-m", "benchmarks.latency.architectures", "--child", json.dumps(options)],
                capture_output=True,
                text=True,
                check=False,
            )
            lines = process.stdout.strip().splitlines()
            if process.returncode or not lines:
                last_line = (process.stderr.strip().splitlines() or ["nothing"])[-1]
                facts["recipes"][recipe] = {"error": f"exit code {process.returncode}: {last_line[:200]}"}
                continue
            conversion = json.loads(lines[-1])
            facts |= {key: conversion.pop(key) for key in ("parameters", "model_type")}
            facts["recipes"][recipe] = conversion
        int8 = Path(folder) / "dynamic_wi8_afp32.tflite"
        if int8.is_file():
            facts["running"] = _benchmark(int8, arguments)
        return facts


def _recipes(name: str, arguments: argparse.Namespace) -> list[str]:
    """List the recipes; the check of albert-base needs static int8 as well."""
    recipes = list(arguments.recipes)
    return recipes + ["static_wi8_ai8"] * (name == "albert-base" and "static_wi8_ai8" not in recipes)


def _benchmark(path: Path, arguments: argparse.Namespace) -> dict:
    """Measure latency and memory of a file at each length, in separate processes."""
    results = benchmark(path, lengths=arguments.lengths, runs=arguments.runs, warmup=2)
    return {
        str(m.length): {
            "seconds": m.latency.p50, "mean_seconds": m.latency.mean, "load_seconds": m.load_seconds,
            "peak_bytes": m.peak_bytes, "model_bytes": m.model_bytes, "partitions": m.partitions,
        }
        for m in results.measurements
    }  # fmt: skip


def _build_and_convert(name: str, recipe: str, folder: str, length: int) -> dict:
    """Build and convert, in the child process. `peak_bytes` covers imports, model, one forward pass and conversion."""
    import kerasbert as kb
    from kerasbert.encoders import encoder_class, preset
    from kerasbert.tasks import TextClassifier

    config = preset(name)
    start = time.perf_counter()
    task = TextClassifier(encoder_class(config.model_type)(config), None, labels=["a", "b"], sequence_length=length)
    rows = _random_rows(8, length, config.vocab_size)
    built = time.perf_counter()
    outputs = task.serve_numpy({key: values[:1] for key, values in rows.items()})["probabilities"]
    if not np.isfinite(outputs).all():
        raise SystemExit(f"expected finite outputs of {name}, received {outputs}")
    forward_peak = _peak_memory()
    start_conversion = time.perf_counter()
    # Static files have one length, that of the calibration.
    static = {"calibration": rows} if recipe.startswith("static") else {"length": "resizable"}
    converted = kb.export.convert(task, recipe=recipe, **static)
    ended = time.perf_counter()
    path = Path(folder) / f"{recipe}.tflite"
    path.write_bytes(converted.content)
    return {
        "parameters": converted.metadata.parameters, "model_type": config.model_type, "file_bytes": len(converted.content),
        "build_seconds": built - start, "convert_seconds": ended - start_conversion,
        "forward_peak_bytes": forward_peak, "peak_bytes": _peak_memory(),
    }  # fmt: skip


def _random_rows(count: int, length: int, vocabulary: int) -> dict[str, np.ndarray]:
    """Draw rows of random tokens, with lengths up to the given one."""
    draw = np.random.default_rng(0)
    mask = (np.arange(length) < np.linspace(4, length, count).astype(int)[:, None]).astype(np.int32)
    ids = draw.integers(0, vocabulary, (count, length)).astype(np.int32) * mask
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def _peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _failed_checks(measured: dict) -> list[str]:
    """Describe each check that fails."""
    failures = []
    for name, facts in measured.items():
        for recipe, conversion in facts["recipes"].items():
            if "error" in conversion:
                failures.append(f"{name}, {recipe}: {conversion['error']}")
                continue
            limit = MEMORY_LIMIT.get(name)
            if limit and recipe == "dynamic_wi8_afp32" and conversion["peak_bytes"] > limit:
                failures.append(
                    f"{name}: {format_bytes(conversion['peak_bytes'])} of peak memory, more than {format_bytes(limit)}"
                )
            if name == "albert-base" and conversion["file_bytes"] > ALBERT_BASE.get(recipe, np.inf):
                failures.append(f"{name}, {recipe}: {format_bytes(conversion['file_bytes'])}")
    return failures


def _summary(name: str, facts: dict, lengths: list[int]) -> str:
    """Format the facts of a preset for the terminal."""
    sizes = {recipe: facts["recipes"].get(recipe, {}).get("file_bytes") for recipe in facts["recipes"]}
    running = facts.get("running", {})
    times = {length: running[str(length)]["seconds"] for length in lengths if str(length) in running}
    parts = [
        *(f"{recipe} {format_bytes(size)}" for recipe, size in sizes.items() if size),
        *(f"{length} tokens {format_seconds(seconds)}" for length, seconds in times.items()),
    ]
    return f"{name}: {', '.join(parts) or 'nothing measured'}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", metavar="NAME", help="by default all")
    parser.add_argument("--lengths", nargs="+", type=int, default=[32, 128, 384], metavar="N", help="tokens of a row")
    parser.add_argument("--recipes", nargs="+", default=["float32", "dynamic_wi8_afp32"], metavar="RECIPE")
    parser.add_argument("--runs", type=int, default=20, help="timed runs at each length")
    parser.add_argument(
        "--build-length", type=int, default=BUILD_LENGTH, help="tokens in the Keras model's forward pass"
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    record.add_output(parser, "architectures")
    return parser.parse_args()


if __name__ == "__main__":
    main()
