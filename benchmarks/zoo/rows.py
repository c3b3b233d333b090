"""Lines of `zoo/results.csv` from measurements: machine, date, commit and command are those of the running script."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from benchmarks.common.record import ROOT, shorten_path
from kerasbert.export.runtime.interpreters import describe_machine
from kerasbert.zoo.results import Result


def make_result(
    model: str, file: str, data: str, metric: str, values: Sequence[float], backend: str = "keras", seeds: Sequence[int] = (),
    device: str = "",
) -> Result:  # fmt: skip
    """Make a line with the mean and the standard deviation of several runs.

    Args:
        model: The model's name.
        file: `float`, `int8` or a recipe's name.
        data: Data set and part.
        metric: Name of the metric, with its unit if it has one.
        values: One number for each run.
        backend: Where it ran.
        seeds: The seeds of the runs.
        device: The device that LiteRT's GPU accelerator named. If it is no software, it is the machine of the line.
    """
    graphics = "" if "CPU" in device else device.partition(",")[0]
    spread = f"{np.std(values, ddof=1):.4g}" if len(values) > 1 else ""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT, check=False
    ).stdout.strip()
    module = sys.modules["__main__"].__spec__
    command = " ".join(["python", "-m", module.name if module else "?", *map(shorten_path, sys.argv[1:])])
    return Result(
        model, file, data, metric, float(np.mean(values)), spread, " ".join(map(str, seeds)), backend,
        graphics or str(describe_machine()["cpu"]), datetime.now(UTC).date().isoformat(), commit, command,
    )  # fmt: skip


def gpu_backend(device: str) -> str:
    """The backend's name for a device of LiteRT's GPU accelerator: SwiftShader computes in 32 bits, others in 16 bits by default.

    Args:
        device: The adapter that the accelerator named.
    """
    return "gpu" if "SwiftShader" in device else "gpu-fp16"


def add_models(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `model_names` to a parser."""
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names in the zoo, or folders (all encoders)")
    parser.add_argument("--beside", nargs="+", default=[], metavar="FOLDER", help="other encoders, to compare with")


def model_names(arguments: argparse.Namespace) -> list[str]:
    """Return the models to measure: those named, else all encoders of the zoo; then those to compare with."""
    from kerasbert.zoo.catalog import ENCODER, models

    own = arguments.models or [model.name for model in models() if model.kind == ENCODER]
    return [*own, *arguments.beside]


def int8_file(task: Any, texts: Sequence[str], length: int | list[int] | None = None) -> Any:
    """Convert a sentence encoder to an int8 file: static where it has layers, else the table alone, as static vectors have.

    Args:
        task: The sentence encoder.
        texts: Texts for the ranges of activations.
        length: Sequence lengths of the file.
    """
    import kerasbert as kb

    if not task.encoder.is_transformer:
        return kb.export.convert(task, "dynamic_wi8_afp32", length=length)
    return kb.export.convert(task, "static_wi8_ai8", length=length, calibration=texts)
