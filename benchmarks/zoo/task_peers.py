"""The data sets of the zoo's task files, with a larger encoder that PyTorch transformers fine-tunes: what a file gives up for its size.

    python -m benchmarks.zoo.task_peers all-MiniLM-L6-v2 --clinc150 clinc150 --banking77 banking77 --hwu64 hwu64 --snips snips \
        --peer-python peers/bin/python

Each folder holds the data set's files. They are read, divided and scored as for the files of the zoo. A data set whose result is in the
result file is not measured again.
"""

import argparse
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record
from benchmarks.zoo.request_rows import read_rows

OUTSIDE, DEV = "oos", 0.06
COMMON = {"rate": 2e-4, "head_rate": 2e-3, "length": 64, "seed": 1}


def main() -> None:
    """Measure the data sets that are named, and write the result after each."""
    arguments = _arguments()
    load, path = record.load(), Path(arguments.json)
    found = json.loads(path.read_text("utf-8"))["data"] if path.exists() and path.stat().st_size else {}
    script = Path(__file__).with_name("torch_peer.py")
    versions: dict[str, str] = {}
    for name, measure in DATA.items():
        folder = getattr(arguments, name)
        if folder is None or name in found:
            continue

        def trained(given: dict[str, Any]) -> dict[str, Any]:
            command = [arguments.peer_python, str(script), arguments.folder, str(arguments.threads)]
            done = subprocess.run(command, input=json.dumps({**COMMON, **given}) + "\n", capture_output=True, text=True)
            if not done.stdout:
                raise SystemExit(f"expected predictions of PyTorch, received none: {done.stderr[-500:]}")
            answer = json.loads(done.stdout)
            versions.update(answer.pop("versions"))
            return answer

        found[name] = measure(folder, trained)
        print(name, found[name], flush=True)
        result = {"model": Path(arguments.folder).name, "threads": arguments.threads, "data": found}
        record.write(arguments.json, result, versions, load)


def _clinc150(folder: Path, trained: Callable) -> dict[str, float]:
    """Train without texts out of scope; those of the development part set the threshold, as in `kerasbert train --fallback`."""
    from kerasbert.processors.fallback import threshold_of

    parts = {part: _table(folder / f"{part}.tsv.gz", "intent") for part in ("train", "dev", "test")}
    names = sorted({label for _, label in parts["train"] if label != OUTSIDE})
    train = [{"text": text, "class": names.index(label)} for text, label in parts["train"] if label != OUTSIDE]
    asked = [*parts["dev"], *parts["test"]]
    test = [{"text": text} for text, _ in asked]
    answer = trained({"train": train, "test": test, "classes": len(names), "tags": 0, "epochs": 5, "smoothing": 0.1})
    probabilities, labels = np.array(answer["classes"]), np.array([label for _, label in asked])
    known = labels != OUTSIDE
    dev = np.arange(len(asked)) < len(parts["dev"])
    classes = np.array([names.index(label) for label in labels[dev & known]])
    below = threshold_of(probabilities[dev & known], classes, probabilities[dev & ~known], keep=0.99)
    predicted = np.where(probabilities.max(axis=1) < below, OUTSIDE, np.array(names)[probabilities.argmax(axis=1)])
    right = predicted == labels
    return {
        "in-scope accuracy": float(right[~dev & known].mean()),
        "out-of-scope recall": float(right[~dev & ~known].mean()),
        "seconds": answer["seconds"],
    }


def _banking77(folder: Path, trained: Callable) -> dict[str, float]:
    parts = {part: _table(folder / f"{part}.tsv.gz", "category") for part in ("train", "test")}
    names = sorted({label for _, label in parts["train"]})
    train = [{"text": text, "class": names.index(label)} for text, label in parts["train"]]
    test = [{"text": text} for text, _ in parts["test"]]
    answer = trained(
        {"train": train, "test": test, "classes": len(names), "tags": 0, "epochs": 8, "smoothing": 0.1, "length": 128}
    )
    right = np.array(names)[np.argmax(answer["classes"], axis=1)] == np.array([label for _, label in parts["test"]])
    return {"accuracy": float(right.mean()), "seconds": answer["seconds"]}


def _hwu64(folder: Path, trained: Callable) -> dict[str, float]:
    train, test = _requests(folder / "train.jsonl.gz"), _requests(folder / "test.jsonl.gz", dev=0.0)
    intents = sorted({row["intent"] for row in train})
    tags, numbered = _numbered(train, test)
    for row, numbers in zip(train, numbered, strict=True):
        numbers["class"] = intents.index(row["intent"])
    rows = [{"words": row["words"]} for row in test]
    answer = trained({"train": numbered, "test": rows, "classes": len(intents), "tags": len(tags), "epochs": 6})
    right = [intents[int(np.argmax(each))] == row["intent"] for each, row in zip(answer["classes"], test, strict=True)]
    return {
        "intent accuracy": float(np.mean(right)),
        "slots entity F1": _entity_f1(test, tags, answer["tags"]),
        "seconds": answer["seconds"],
    }


def _snips(folder: Path, trained: Callable) -> dict[str, float]:
    train, test = _requests(folder / "train.jsonl.gz"), _requests(folder / "validate.jsonl.gz", dev=0.0)
    tags, numbered = _numbered(train, test)
    rows = [{"words": row["words"]} for row in test]
    answer = trained({"train": numbered, "test": rows, "classes": 0, "tags": len(tags), "epochs": 8})
    return {"entity F1": _entity_f1(test, tags, answer["tags"]), "seconds": answer["seconds"]}


DATA = {"clinc150": _clinc150, "banking77": _banking77, "hwu64": _hwu64, "snips": _snips}


def _table(path: Path, label: str) -> list[tuple[str, str]]:
    from kerasbert.data import read_table

    table = read_table(path, text="text", label=label)
    return list(zip(table.x, table.y or (), strict=True))


def _requests(path: Path, dev: float = DEV) -> list[dict[str, Any]]:
    """The rows of the training part, without those that choose the epoch of a file of the zoo."""
    return read_rows(path, "both", dev)[0]["train"]


def _numbered(train: list[dict[str, Any]], test: list[dict[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """The tags, and the training rows with the numbers of theirs."""
    tags = sorted({tag for row in (*train, *test) for tag in row["slots"]})
    return tags, [{"words": row["words"], "tags": [tags.index(tag) for tag in row["slots"]]} for row in train]


def _entity_f1(rows: list[dict[str, Any]], tags: list[str], predicted: list[list[int]]) -> float:
    """The F1 of whole entities; a word beyond the length has no tag."""
    from kerasbert.data.entities import entity_scores

    names = [[tags[number] for number in numbers] for numbers in predicted]
    padded = [[*found, *["O"] * (len(row["slots"]) - len(found))] for row, found in zip(rows, names, strict=True)]
    return entity_scores([row["slots"] for row in rows], padded)["entity F1"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="the encoder's folder")
    for name in DATA:
        parser.add_argument(f"--{name}", type=Path, metavar="FOLDER", help=f"the files of {name}")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--peer-python", required=True, metavar="PYTHON", help="a Python with transformers and torch")
    record.add_output(parser, "zoo_task_peers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
