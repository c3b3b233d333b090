"""Writes a measurement as JSON: numbers with their spread, machine, versions, command and date."""

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from kerasbert.export.runtime.interpreters import describe_machine
from kerasbert.files.atomic import atomic_file

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def spread(values: Sequence[float]) -> dict[str, float]:
    """Summarize values by median, quartiles, extremes and count."""
    low, q1, median, q3, high = (float(value) for value in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
    return {"median": median, "q1": q1, "q3": q3, "min": low, "max": high, "count": len(values)}


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> dict[str, float]:
    """Compute the ratio of the medians, and the spread of the per-round ratios.

    Args:
        numerators: One value per round.
        denominators: Values of the same rounds.
    """
    rounds = spread((np.asarray(numerators) / np.asarray(denominators)).tolist())
    of_medians = float(np.median(numerators) / np.median(denominators))
    return {"of_medians": of_medians, **{f"round_{key}": value for key, value in rounds.items()}}


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Look up the installed versions of packages; missing packages are left out."""
    installed = {}
    for package in packages:
        try:
            installed[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed


def file_facts(path: str | os.PathLike) -> dict[str, str | int]:
    """Describe a file by name and size; its folder is private to the machine."""
    return {"file": Path(path).name, "bytes": Path(path).stat().st_size}


def load() -> list[float] | None:
    """Read the load averages over 1, 5 and 15 minutes, or None where the system has none."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None


def add_output(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the option `--json`, the result file, to a parser."""
    target = RESULTS / f"{name}.json"
    parser.add_argument(
        "--json", type=Path, default=target, metavar="FILE", help=f"result file (benchmarks/results/{name}.json)"
    )


def write(path: Path, result: dict, packages: dict[str, str], load_before: list[float] | None = None) -> None:
    """Write a result with the machine, command, date and versions; the file is replaced atomically.

    Args:
        path: The result file.
        result: The measured numbers.
        packages: Versions, from `versions`.
        load_before: Load averages at the start, from `load`.
    """
    document = {
        "command": _command(sys.argv),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "load_before": load_before,
        "load_after": load(),
        "commit": _commit(),
        "versions": packages,
        **result,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as partial:
        Path(partial).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    print(f"wrote {path}")


def _command(argv: Sequence[str]) -> str:
    script = Path(argv[0]).resolve()
    if not script.is_relative_to(ROOT):
        return " ".join(["python", *map(shorten_path, argv)])
    module = ".".join(script.relative_to(ROOT).with_suffix("").parts)
    return " ".join(["python", "-m", module, *map(shorten_path, argv[1:])])


def shorten_path(argument: str) -> str:
    """Reduce a path outside of the working directory to its last part, also that of NAME=PATH; other arguments stay."""
    name, equals, path = argument.rpartition("=")
    outside = os.path.isabs(path) or path.startswith("..")
    return name + equals + os.path.basename(path.rstrip("/")) if outside else argument


def _commit() -> str | None:
    command = ["git", "describe", "--always", "--dirty"]
    try:
        process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    except OSError:
        return None
    return process.stdout.strip() or None
