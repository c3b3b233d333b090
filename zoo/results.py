"""The zoo's measurements: `results.csv`, one line for each model, file, task, metric, backend and machine."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from kerasbert.files.atomic import atomic_file

FILE = Path(__file__).resolve().parent / "results.csv"


@dataclass(frozen=True)
class Result:
    """A measured number.

    Attributes:
        model: Name of the model in the zoo; or of a published checkpoint.
        file: What was measured: `float` (the Keras model), `int8` (the `.tflite` file), or a recipe's name.
        data: Data set and part, such as `SST-2 dev`.
        metric: Name and unit, such as `accuracy`, `latency ms` or `size MB`.
        value: The number; the mean over the seeds.
        spread: Standard deviation over the seeds; "" for one run.
        seeds: The seeds, separated by spaces; "" where nothing is random.
        backend: `keras`, `xnnpack`, `reference`, `gpu` (in 32 bits), `gpu-fp16`, `wasm`; "" for sizes.
        machine: The processor; for `gpu-fp16` a graphics processor.
        date: Day of the measurement, ISO 8601.
        commit: The repository's commit.
        command: The command that measures it.
    """

    model: str
    file: str
    data: str
    metric: str
    value: float
    spread: str
    seeds: str
    backend: str
    machine: str
    date: str
    commit: str
    command: str

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies the measurement: a new one with the same key replaces it."""
        return (self.model, self.file, self.data, self.metric, self.backend, self.machine)


def read_results(path: Path = FILE) -> list[Result]:
    """Read all measurements.

    Args:
        path: The file.
    """
    with open(path, newline="", encoding="utf-8") as file:
        return [Result(**{**row, "value": float(row["value"])}) for row in csv.DictReader(file)]  # type: ignore[arg-type]


def add_results(new: Iterable[Result], path: Path = FILE) -> None:
    """Add measurements to the file; those of the same key are replaced, and the lines are sorted.

    Args:
        new: The measurements.
        path: The file; created if it does not exist.
    """
    results = {result.key: result for result in (read_results(path) if path.is_file() else [])}
    results |= {result.key: result for result in new}
    with atomic_file(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Result)])
        writer.writerows(
            [f"{value:.6g}" if isinstance(value, float) else value for value in astuple(results[key])]
            for key in sorted(results)
        )


def select(results: Sequence[Result], **values: str) -> list[Result]:
    """Return the measurements with these values, the newest first.

    Args:
        results: Measurements.
        **values: Values of attributes, such as `model="mini-en"`.
    """
    found = [result for result in results if values.items() <= asdict(result).items()]
    return sorted(found, key=lambda result: result.date, reverse=True)
