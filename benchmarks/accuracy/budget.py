"""The file that `kerasbert fit` chooses under a budget, beside the best of 20 that were picked by hand for the same budget.

    python -m benchmarks.accuracy.budget --data sst-2 train.tsv.gz dev.tsv.gz classification "5 MB" \\
        --data conll2003 eng.train.gz eng.testb.gz tagging "5 MB" --out runs/budget

Both sides get the same rows, sampled from the training file, the same development part and the same recipes. The 20 are written down in
this script: all four encoders at up to three learning rates, with fewer layers, with their own vocabulary, and in 4 bits. Each is trained
on all rows and converted, with the commands of `kerasbert fit`. Measured: the score of the chosen file and of the best by hand on the test
file, which neither has seen, and the seconds of the search and of the 20, of the clock and of processors: other work on the machine
lengthens the first. `--out` keeps what was trained, and the same command goes on.
"""

import argparse
import contextlib
import gzip
import json
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import record
from kerasbert.selection.candidate import Candidate, Data

PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "numpy", "ai-edge-litert")
RECIPES = ("dynamic_wi8_afp32", "dynamic_wi4_afp32")
LENGTH, LENGTHS = 64, (16, 32, 64)
_FOUR_BITS = RECIPES[1]
BY_HAND = (
    *(Candidate("small-en", rate=rate) for rate in (0.5, 1.0, 2.0)),
    *(Candidate("small-en", vocabulary=True, rate=rate) for rate in (1.0, 2.0)),
    Candidate("small-en", layers=3),
    Candidate("small-en", layers=2),
    Candidate("small-en", recipe=_FOUR_BITS),
    *(Candidate("albert-small-en", rate=rate) for rate in (0.5, 1.0, 2.0)),
    *(Candidate("mobilebert-small-en", rate=rate) for rate in (0.5, 1.0, 2.0)),
    *(Candidate("mini-en", vocabulary=True, rate=rate) for rate in (0.5, 1.0, 2.0)),
    *(Candidate("mini-en", layers=2, vocabulary=True, rate=rate) for rate in (1.0, 2.0)),
    Candidate("mini-en", vocabulary=True, recipe=_FOUR_BITS),
)


def main() -> None:
    """Measure the data sets that the result file lacks, and write it after each."""
    arguments = _arguments()
    load, path = record.load(), Path(arguments.json)
    found = json.loads(path.read_text("utf-8"))["data"] if path.exists() and path.stat().st_size else {}
    for name, train, test, task, budget in arguments.data:
        if name in found:
            continue
        folder = arguments.out / name
        parts = _parts(Path(train), Path(test), task, folder, arguments)
        found[name] = {
            "budget": budget, "rows": arguments.rows, "dev_rows": arguments.dev_rows,
            "fit": _fitted(parts, task, budget, folder, arguments), "by_hand": _by_hand(parts, task, budget, folder, arguments),
        }  # fmt: skip
        _score(found[name], parts["test"], folder)
        result = {"threads": arguments.threads, "trials": arguments.trials, "recipes": RECIPES, "data": found}
        record.write(path, result, record.versions(PACKAGES), load)


def _parts(train: Path, test: Path, task: str, folder: Path, arguments: argparse.Namespace) -> dict[str, Path]:
    """Write the sampled training part, the development part and the whole test part as files."""
    folder.mkdir(parents=True, exist_ok=True)
    header, rows = _rows(train, task)
    random.Random(arguments.seed).shuffle(rows)
    dev, kept = rows[: arguments.dev_rows], rows[arguments.dev_rows :][: arguments.rows]
    suffix, between = (".conll", "\n\n") if task == "tagging" else (".tsv", "\n")
    made = {}
    for part, content in (("train", kept), ("dev", dev), ("test", _rows(test, task)[1])):
        made[part] = folder / f"{part}{suffix}"
        made[part].write_text(between.join([*header, *content]) + "\n", "utf-8")
    return made


def _rows(path: Path, task: str) -> tuple[list[str], list[str]]:
    """The header and the rows of a file: lines with a text and a label, or sentences with a word a line."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    if task == "tagging":
        return [], [each.strip() for each in re.split(r"\n\s*\n", text) if each.strip() and "-DOCSTART-" not in each]
    lines = text.splitlines()
    return ["text\tlabel"], lines[lines[0].split("\t")[-1] in ("label", "category", "intent") :]


def _fitted(
    parts: dict[str, Path], task: str, budget: str, folder: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Run the search as a user does, and return its choice and seconds."""
    out = folder / "fit.tflite"
    command = [
        sys.executable, "-m", "kerasbert.cli", "fit", str(parts["train"]), "--dev", str(parts["dev"]), "--task", task,
        "--budget", budget, "--recipe", ",".join(RECIPES), "--sequence-length", str(LENGTH), "--trials", str(arguments.trials),
        "--threads", str(arguments.threads), "--out", str(out), "--json",
    ]  # fmt: skip
    result = folder / "fit.json"
    if not result.exists():
        with _timed(folder / "fit.seconds.json"):
            made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        result.write_text(made.stdout.replace(f"{folder}/", ""), "utf-8")  # the folder is private to the machine
    found = json.loads(result.read_text("utf-8"))
    return {
        "file": out.name,
        **_spent(folder / "fit.seconds.json"),
        **{name: found[name] for name in ("chosen", "reason", "trials")},
    }


@contextlib.contextmanager
def _timed(path: Path) -> Iterator[None]:
    """Add the seconds of the block to those of a file, of the clock and of the processors of its child processes."""
    begin, children = time.perf_counter(), _children()
    try:
        yield
    finally:
        before = _spent(path)
        now = {"seconds": time.perf_counter() - begin, "processor_seconds": _children() - children}
        path.write_text(json.dumps({name: before[name] + value for name, value in now.items()}), "utf-8")


def _spent(path: Path) -> dict[str, float]:
    return json.loads(path.read_text("utf-8")) if path.exists() else {"seconds": 0.0, "processor_seconds": 0.0}


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _by_hand(
    parts: dict[str, Path], task: str, budget: str, folder: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Train and convert the 20, and return the cost and the score on dev of each, and their seconds."""
    from kerasbert import data
    from kerasbert.cli.runs.fitting import Commands
    from kerasbert.console.progress import Progress
    from kerasbert.errors import KerasBertError
    from kerasbert.selection.budget import Budget

    texts = folder / "texts.txt"
    rows = data.read_conll(parts["train"]) if task == "tagging" else data.read_table(parts["train"])
    joined = (" ".join(each) if task == "tagging" else each for each in rows.x)
    texts.write_text("".join(f"{' '.join(each.split())}\n" for each in joined), "utf-8")
    options = {"dev": str(parts["dev"]), "task": task, "sequence_length": LENGTH}
    made = Data(str(parts["train"]), texts, options, {"task": task}, {}, LENGTHS)
    dev = data.read_conll(parts["dev"]) if task == "tagging" else data.read_table(parts["dev"])
    commands = Commands(made, dev, folder / "by-hand", arguments.threads, Progress())
    spent, left_out = folder / "by-hand.seconds.json", {}
    for candidate in BY_HAND:
        with _timed(spent):
            _, score = next(iter(commands.scores([candidate], None)))
        if isinstance(score, KerasBertError):
            left_out[candidate] = str(score)
        print(f"{candidate}: {score}; {_spent(spent)['processor_seconds']:.0f} s so far", flush=True)
    with _timed(spent):
        finals = commands.finals([each for each in BY_HAND if each not in left_out])
    limits = Budget.parse(budget)
    files = {
        str(candidate): {
            "file": str(commands.file(candidate).relative_to(folder)), "bytes": cost.bytes, "ms": 1e3 * cost.seconds,
            "dev": value, "within": limits.excess(cost) <= 1,
        }
        for candidate, (cost, value) in finals.items()
    }  # fmt: skip
    return {**_spent(spent), "files": files, "left_out": {str(each): why for each, why in left_out.items()}}


def _score(found: dict[str, Any], test: Path, folder: Path) -> None:
    """Add the scores of all files within the budget on the test part, and which of the 20 is the best on dev and on test."""
    from kerasbert.export.comparer import compare

    within = {name: each for name, each in found["by_hand"]["files"].items() if each["within"]}
    files = [found["fit"]["file"], *(each["file"] for each in within.values())]
    compared = compare({each: str(folder / each) for each in files}, str(test), latency=False)
    scores = [model.score.value for model in compared.models if model.score is not None]
    found["metric"], found["fit"]["test"] = compared.metric, scores[0]
    for each, score in zip(within.values(), scores[1:], strict=True):
        each["test"] = score
    for part in ("dev", "test"):
        name = max(within, key=lambda each: within[each][part])
        found["by_hand"][f"best_on_{part}"] = {"candidate": name, "test": within[name]["test"]}


def _arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", nargs=5, action="append", required=True, metavar=("NAME", "TRAIN", "TEST", "TASK", "BUDGET"),
        help="a data set, its task and the budget; repeatable",
    )  # fmt: skip
    parser.add_argument("--rows", type=int, default=2000, metavar="N", help="training rows (2,000)")
    parser.add_argument("--dev-rows", type=int, default=500, metavar="N", help="development rows (500)")
    parser.add_argument("--trials", type=int, default=12, metavar="N", help="candidates of the search (12)")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a folder for what is trained")
    record.add_output(parser, "budget")
    return parser.parse_args(given)


if __name__ == "__main__":
    main()
