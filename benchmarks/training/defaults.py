"""`kerasbert train` with its default rates and epochs, beside a small search over them.

    python -m benchmarks.training.defaults FOLDER --work runs/defaults

Measured: the main metric on development rows, for eight data sets and four encoders of the zoo: with the defaults, with the head at the
encoder's rate, with other rates, and with twice the epochs where the last epoch of the defaults was the best. `FOLDER` holds `banking77`,
`clinc150`, `sst-2`, `ag-news`, `sts-b`, `wnut17`, `snips` and `subjqa`. Rows are drawn once from a seed. Every finished run is kept in the
result file, and a later call continues with those that are missing. Several calls may run at once, with other models or data sets. A run is
named by its settings, so the table is true after others are recommended.
"""

import argparse
import gzip
import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "numpy")
MODELS = ("small-en", "mini-en", "albert-small-en", "mobilebert-small-en")
RATES = (3e-4, 5e-4, 1e-3)
HEAD_FACTORS = (10.0, 1.0)  # the rate of a new head as a multiple of the encoder's
# Characters of a review of SubjQA: longer ones have many windows, which leaves time for few questions.
LONGEST_CONTEXT = 600
# The parts of a new output layer.
HEADS = {
    "classification": ("head", "pooler"), "regression": ("head", "pooler"), "tagging": ("head",), "question-answering": ("head",),
}  # fmt: skip
SEED = 1


@dataclass(frozen=True)
class Case:
    """A data set.

    Attributes:
        task: The task of `kerasbert train`.
        train: Training rows.
        dev: Development rows.
        suffix: The kind of file.
        rows: Reads all rows of both parts from the folder, as text blocks of the file.
        settings: Further settings of the training.
    """

    task: str
    train: int
    dev: int
    suffix: str
    rows: Callable[[Path], tuple[list[Any], list[Any]]]
    settings: dict[str, str]


def file_lines(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return the lines of a gzip file."""
    return gzip.decompress(path.read_bytes()).decode(encoding).splitlines()


def table_rows(train: str, dev: str | None, columns: tuple[int, ...], header: bool) -> Callable:
    """Return a reader of the rows of a table, for `Case`.

    Args:
        train: The training file, below the folder of all data sets.
        dev: The development file; None for the last fifth of the training rows in a fixed order.
        columns: Of the texts and the label.
        header: Whether the files have one.
    """

    def read(folder: Path) -> tuple[list[str], list[str]]:
        parts = []
        for name in (train, dev):
            rows = [] if name is None else [line.split("\t") for line in file_lines(folder / name)[int(header) :]]
            parts.append(["\t".join(row[i] for i in columns) for row in rows if len(row) > max(columns)])
        if dev is None:  # the last rows of a fixed order
            order = np.random.default_rng(SEED).permutation(len(parts[0]))
            rows = [parts[0][i] for i in order]
            return rows[: -len(rows) // 5], rows[-len(rows) // 5 :]
        return parts[0], parts[1]

    return read


def _wnut17(folder: Path) -> tuple[list[str], list[str]]:
    parts = []
    for name in ("train", "dev"):
        blocks = "\n".join(file_lines(folder / f"wnut17/{name}.conll.gz")).split("\n\n")
        parts.append([block.strip("\n") for block in blocks if block.strip()])
    return parts[0], parts[1]


def _snips(folder: Path) -> tuple[list[str], list[str]]:
    return tuple(
        [_tagged(json.loads(line)) for line in file_lines(folder / f"snips/{name}.jsonl.gz")]
        for name in ("train", "validate")
    )  # type: ignore[return-value]


def _tagged(row: dict[str, Any]) -> str:
    """Write an utterance with slots as words with tags."""
    lines, start, inside = [], 0, None
    for word in row["text"].split():
        start = row["text"].index(word, start)
        slot = next((each for each in row["slots"] if each["start"] < start + len(word) and start < each["end"]), None)
        tag = "O" if slot is None else ("I-" if slot is inside else "B-") + slot["label"]
        lines.append(f"{word}\t{tag}")
        inside, start = slot, start + len(word)
    return "\n".join(lines)


def _subjqa(folder: Path) -> tuple[list[Any], list[Any]]:
    """Read the questions on short reviews. The development rows are those of `dev` and `test`: `dev` has 369 of them alone."""
    parts: dict[str, list[Any]] = {}
    for name in ("train", "dev", "test"):
        data = json.loads("\n".join(file_lines(folder / f"subjqa/{name}.json.gz")))["data"]
        paragraphs = [paragraph for document in data for paragraph in document["paragraphs"]]
        parts[name] = [paragraph for paragraph in paragraphs if len(paragraph["context"]) <= LONGEST_CONTEXT]
    return parts["train"], parts["dev"] + parts["test"]


CASES = {
    "sst-2": Case(
        "classification", 2000, 872, "tsv", table_rows("sst-2/train.tsv.gz", "sst-2/dev.tsv.gz", (0, 1), True), {}
    ),
    "banking77": Case("classification", 3000, 800, "tsv", table_rows("banking77/train.tsv.gz", None, (0, 1), True), {}),
    "snips slots": Case("tagging", 1500, 500, "conll", _snips, {}),
    "sts-b": Case(
        "regression", 2000, 600, "tsv", table_rows("sts-b/train.tsv.gz", "sts-b/dev.tsv.gz", (7, 8, 9), True), {}
    ),
    "ag-news": Case("classification", 1000, 500, "tsv", table_rows("ag-news/dev.tsv.gz", None, (0, 1), False), {}),
    "clinc150": Case(
        "classification", 4000, 800, "tsv", table_rows("clinc150/train.tsv.gz", "clinc150/dev.tsv.gz", (0, 1), True), {}
    ),
    "wnut17": Case("tagging", 2000, 500, "conll", _wnut17, {}),
    "subjqa": Case("question-answering", 1800, 1000, "json", _subjqa, {}),
}
_HEADERS = {2: "text\tlabel", 3: "sentence1\tsentence2\tlabel"}


def write_data(case: Case, folder: Path, target: Path) -> tuple[Path, Path]:
    """Write the rows of a data set that the runs read.

    Args:
        case: The data set.
        folder: The folder of all data sets.
        target: Where the files are written.

    Returns:
        The training file and the development file.
    """
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, rows, count in zip(("train", "dev"), case.rows(folder), (case.train, case.dev), strict=True):
        order = np.random.default_rng(SEED).permutation(len(rows))[:count]
        chosen = [rows[i] for i in sorted(order)]
        path = target / f"{name}.{case.suffix}"
        if case.suffix == "json":
            text = json.dumps({"version": "v2.0", "data": [{"title": name, "paragraphs": chosen}]})
        elif case.suffix == "conll":
            text = "\n\n".join(chosen) + "\n"
        else:
            text = "\n".join([_HEADERS[chosen[0].count("\t") + 1], *chosen]) + "\n"
        path.write_text(text, "utf-8")
        paths.append(path)
    return paths[0], paths[1]


@dataclass(frozen=True)
class Run:
    """The settings of a training.

    Attributes:
        model: The encoder.
        name: The data set.
        rate: The learning rate.
        head_factor: The head's rate as a multiple of it.
        longer: Whether it has twice the default epochs.
    """

    model: str
    name: str
    rate: float
    head_factor: float
    longer: bool = False

    @property
    def key(self) -> str:
        """The name of the run in the result file."""
        return f"{self.model}, {self.name}, {self.rate:g}, head x{self.head_factor:g}" + (
            ", twice the epochs" if self.longer else ""
        )


def default_of(model: str, name: str) -> Run:
    """Return the run with the settings that are recommended for a model of the zoo.

    Args:
        model: Its name.
        name: The data set.
    """
    from kerasbert.checkpoints.hugging_face import resolve
    from kerasbert.training.recommended import recommended_for_folder

    recommended = recommended_for_folder(resolve(model))
    return Run(model, name, recommended.learning_rate, recommended.head_factor)


def runs(models: list[str], names: list[str], search: bool) -> Iterator[Run]:
    """Yield all runs. The defaults come first.

    Args:
        models: The encoders.
        names: The data sets.
        search: Whether there is more than the defaults.
    """
    defaults = [default_of(model, name) for model in models for name in names]
    yield from defaults
    if search:
        for rate in RATES:
            others = [replace(run, rate=rate) for run in defaults]
            yield from (run for run in others if run not in defaults)
        yield from (replace(run, longer=True) for run in defaults)
        for factor in HEAD_FACTORS:
            others = [replace(run, head_factor=factor) for run in defaults]
            yield from (run for run in others if run not in defaults)


def train_once(case: Case, model: str, given: dict[str, Any], files: tuple[Path, Path], out: Path) -> dict:
    """Train as the command does, and return its record in short form.

    Args:
        case: The data set.
        model: The encoder.
        given: Rate and epochs, where they are not the defaults.
        files: Training and development file.
        out: The folder of the model, which is removed.
    """
    from kerasbert.cli.train import _train
    from kerasbert.training.config import TrainConfig

    shutil.rmtree(out, ignore_errors=True)
    settings = {"model": model, "train": str(files[0]), "dev": str(files[1]), "out": str(out), "task": case.task}
    start = time.perf_counter()
    content = _train(TrainConfig(**settings, **case.settings, **given), out, False, False).data
    shutil.rmtree(out, ignore_errors=True)
    metric, value = next(iter(content["dev"].items()))
    return {
        "metric": metric, "dev": value, "kept_epoch": content["kept_epoch"], "learning_rate": content["settings"]["learning_rate"],
        "epochs": content["settings"]["epochs"], "chance": content.get("chance"), "seconds": round(time.perf_counter() - start, 1),
    }  # fmt: skip


def summary(finished: dict[str, dict]) -> dict[str, dict]:
    """Compare the defaults with the best run of the search, for each model and data set.

    Args:
        finished: The runs by name.

    Returns:
        Both values, and their difference in points and as a share of the best.
    """
    table = {}
    for model in MODELS:
        for name in CASES:
            default = finished.get(default_of(model, name).key)
            found = {each: run for each, run in finished.items() if each.startswith(f"{model}, {name}, ")}
            if default is None:
                continue
            best = max(found, key=lambda each: found[each]["dev"])
            value = found[best]["dev"]
            table[f"{model}, {name}"] = {
                "metric": default["metric"], "default": default["dev"], "best": value, "best_settings": best.split(", ", 2)[2],
                "points_below": round(100 * (value - default["dev"]), 2),
                "percent_below": round(100 * (1 - default["dev"] / value), 2), "searched": len(found) - 1,
                "at_chance": default["chance"]["at_chance"],
            }  # fmt: skip
    return table


def main() -> None:
    """Run what is missing, and write the result after every run."""
    arguments = _arguments()
    load = record.load()
    for settings in runs(arguments.models, arguments.data_sets, not arguments.defaults_only):
        model, name, case = settings.model, settings.name, CASES[settings.name]
        default = default_of(model, name)
        finished = _finished(arguments.json)
        if settings.key in finished:
            continue
        target = arguments.work / name.replace(" ", "-")
        paths = (target / f"train.{case.suffix}", target / f"dev.{case.suffix}")
        files = paths if all(path.is_file() for path in paths) else write_data(case, arguments.folder, target)
        given: dict[str, Any] = {}
        if (settings.rate, settings.head_factor) != (default.rate, default.head_factor):
            given = {"learning_rate": settings.rate}
            if settings.head_factor != 1:
                given["rates"] = dict.fromkeys(HEADS[case.task], settings.rate * settings.head_factor)
        if settings.longer:
            if finished[default.key]["kept_epoch"] < finished[default.key]["epochs"]:
                continue
            given["epochs"] = 2 * finished[default.key]["epochs"]
        run = train_once(case, model, given, files, arguments.work / f"{model}-{name.replace(' ', '-')}")
        print(settings.key, run, flush=True)
        finished = {**_finished(arguments.json), settings.key: run}
        rows = {each: {"task": CASES[each].task, "train": CASES[each].train, "dev": CASES[each].dev} for each in CASES}
        options = {"rates": RATES, "head_factors": HEAD_FACTORS, "seed": SEED, "rows": rows}
        result = {"settings": options, "summary": summary(finished), "runs": dict(sorted(finished.items()))}
        record.write(arguments.json, result, record.versions(PACKAGES), load)


def _finished(path: Path) -> dict[str, dict]:
    return json.loads(path.read_text("utf-8"))["runs"] if path.is_file() else {}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the data sets")
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="for rows and models of a run")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--data-sets", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--defaults-only", action="store_true", help="leave the search out")
    record.add_output(parser, "training_defaults")
    return parser.parse_args()


if __name__ == "__main__":
    main()
