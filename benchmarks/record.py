"""What a measurement leaves behind, as JSON: numbers with their spread, machine, versions, command and date."""

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

RESULTS = Path(__file__).parent / "results"


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, quartiles, extremes and count."""
    low, q1, median, q3, high = (float(value) for value in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
    return {"median": median, "q1": q1, "q3": q3, "min": low, "max": high, "count": len(values)}


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> dict[str, float]:
    """The ratio of the medians, and the spread of the ratios of each round."""
    rounds = spread(np.asarray(numerators) / np.asarray(denominators))
    of_medians = float(np.median(numerators) / np.median(denominators))
    return {"of_medians": of_medians, **{f"round_{key}": value for key, value in rounds.items()}}


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Installed versions in this environment; packages that are not there are left out."""
    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def file_facts(path: str | os.PathLike) -> dict[str, str | int]:
    """A file by its name and size: results say nothing of where a machine keeps it."""
    return {"file": Path(path).name, "bytes": Path(path).stat().st_size}


def load() -> list[float] | None:
    """The machine's load over 1, 5 and 15 minutes, where the system tells: a reader sees whether it was idle."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None


def add_output(parser: argparse.ArgumentParser, name: str) -> None:
    """The option that says where the result goes."""
    target = RESULTS / f"{name}.json"
    parser.add_argument("--json", type=Path, default=target, metavar="FILE", help=f"the result (results/{name}.json)")


def write(path: Path, result: dict, packages: dict[str, str], load_before: list[float] | None = None) -> None:
    """Adds where and how it was measured, and writes the file whole or not at all."""
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
    print(f"written: {path}")


def _command(argv: Sequence[str]) -> str:
    return " ".join(["python", *map(shortened, argv)])


def shortened(word: str) -> str:
    """A path that leads out of the working directory, cut to its last part; anything else as it is."""
    outside = os.path.isabs(word) or word.startswith("..")
    return os.path.basename(word.rstrip("/")) if outside else word


def _commit() -> str | None:
    command, here = ["git", "describe", "--always", "--dirty"], Path(__file__).parent
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=here, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None
