"""Functions, files and folders that a `train` and a `validate` command visit, and how often the data goes back up or returns.

    python -m benchmarks.code.walk
    python -m benchmarks.code.walk --tree CHECKOUT --json before.json
    python -m benchmarks.code.walk --only train --list

Each command runs once in a process of its own, with a model of two layers and generated rows, under `sys.setprofile` and
`threading.setprofile`. Calls while modules are imported, generated methods of dataclasses, and child processes are not counted. A nested
function, a lambda and a comprehension count as the function around them.

Every row starts with marked words. A function gets the data if one of its arguments holds these words, the token id of the first in an
array or a list of integers, or an object of kerasbert that holds these (no Keras layer; four levels deep).

Counted are `all` functions called, those `with_data`, and those `with_data_before_fit`, whose first such call is before the first training
step. Of each group:

- `functions`, and their `files` and `folders`.
- `climbs`: pairs of functions, of which one calls the other in a file on a higher floor. A file stands one floor above the highest that it
  imports. Calls through Keras or the standard library count from the nearest function of kerasbert on the stack.
- `returns`: moves into a file that was visited and left before, in the order of the first visits of all functions.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from benchmarks.code import import_graph
from benchmarks.common import record

ROOT = Path(__file__).parents[2]
COMMANDS = ("train", "validate")
MARK, MARK_ID = "marked row", 97
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "row", *(f"word{i}" for i in range(MARK_ID - 6)), "marked")
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
ROWS = {"train": 64, "dev": 32}


def main() -> None:
    """Measure the commands and write the result."""
    arguments = _arguments()
    floors = _floors(arguments.tree)
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        _write_inputs(Path(folder))
        for name in arguments.only or COMMANDS:
            calls = _run(name, Path(folder), arguments.tree)
            result[name] = {group: _facts(part, floors) for group, part in _groups(calls).items()}
            if arguments.list:
                _list(calls, floors)
    for name, facts in result.items():
        for group, counts in facts.items():
            print(f"{name}, {group}: {', '.join(f'{count} {what}' for what, count in counts.items())}")
    record.write(arguments.json, result, {})


def _write_inputs(folder: Path) -> None:
    """Write a checkpoint without a head, and two tables."""
    import tf_keras as keras

    from kerasbert.encoders.bert import BertConfig, BertEncoder
    from kerasbert.tasks import SentenceEncoder
    from kerasbert.text import WordPiece

    keras.utils.set_random_seed(0)
    config = BertConfig.from_dict({**SIZES, "vocab_size": len(VOCABULARY), "max_position_embeddings": 32})
    SentenceEncoder(BertEncoder(config), WordPiece(VOCABULARY)).save_pretrained(folder / "model")
    (folder / "model" / "kerasbert.json").unlink()  # as a foreign checkpoint has none
    draw = random.Random(0)
    for name, count in ROWS.items():
        rows = ["sentence\tlabel"]
        for row in range(count):
            label = ("negative", "positive")[row % 2]
            words = draw.choices(
                VOCABULARY[10 + 40 * (row % 2) :][:40], k=draw.randint(3, 12)
            )  # the words decide the label
            rows.append(f"{' '.join([MARK, *words])}\t{label}")
        (folder / f"{name}.tsv").write_text("\n".join(rows) + "\n", "utf-8")


def _run(name: str, folder: Path, tree: Path) -> list[dict]:
    """Run a command of a checkout under the trace, and return its calls between functions."""
    trained, file, dev = folder / "trained", folder / "model.tflite", folder / "dev.tsv"
    train = (
        "train", "--model", folder / "model", "--train", folder / "train.tsv", "--dev", dev, "--epochs", 3, "--learning-rate", 0.01,
        "--batch-size", 8, "--out", trained, "--overwrite",
    )  # fmt: skip
    if name == "train":
        return _trace(train, folder, tree)
    for command in (train, ("convert", trained, "--out", file)):
        _python(tree, "-m", "kerasbert", *command)
    return _trace(("validate", file, "--against", trained, "--data", dev), folder, tree)


def _trace(command: tuple, folder: Path, tree: Path) -> list[dict]:
    facts = folder / "facts.json"
    _python(tree, Path(__file__).with_name("traced_command.py"), facts, MARK, MARK_ID, "--", *command)
    result = json.loads(facts.read_text("utf-8"))
    if result["exit_code"]:
        raise SystemExit(f"expected exit code 0 of {command[0]}, received {result['exit_code']}")
    return result["calls"]


def _python(tree: Path, *words: object) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve())}
    command = [sys.executable, *map(str, words)]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tree, env=environment, check=False)
    if process.returncode:
        raise SystemExit(f"expected exit code 0, received {process.returncode}: {process.stderr[-2000:]}")


def _groups(calls: list[dict]) -> dict[str, list[dict]]:
    with_data = sorted((call for call in calls if call["data"]), key=lambda call: call["turn"])
    groups = {"all": calls, "with_data": with_data}
    if any(not call["before_fit"] for call in calls):
        groups["with_data_before_fit"] = [call for call in with_data if call["data"] == "before fit"]
    return groups


def _facts(calls: list[dict], floors: dict[str, int]) -> dict[str, int]:
    functions = list(dict.fromkeys(call["to"] for call in calls))
    files = [_file(function) for function in functions]
    visits = [file for i, file in enumerate(files) if i == 0 or file != files[i - 1]]
    return {
        "functions": len(functions),
        "files": len(set(files)),
        "folders": len({file.rpartition(".")[0] for file in files}),
        "climbs": len({(call["from"], call["to"]) for call in calls if _climbs(call, floors)}),
        "returns": len(visits) - len(set(files)),
    }


def _climbs(call: dict, floors: dict[str, int]) -> bool:
    return call["from"] is not None and floors[_file(call["to"])] > floors[_file(call["from"])]


def _list(calls: list[dict], floors: dict[str, int]) -> None:
    """Print the calls with the data, in order; `^` marks a climb."""
    for call in _groups(calls)["with_data"]:
        print(f"{'^' if _climbs(call, floors) else ' '} {call['data']:10} {call['from']} -> {call['to']}")


def _file(function: str) -> str:
    return function.partition(":")[0]


def _floors(tree: Path) -> dict[str, int]:
    """Compute the floor of each module: 1 for one without imports, else one more than the highest that it imports."""
    graph = import_graph.import_graph(tree)

    @cache
    def floor(module: str) -> int:
        return 1 + max((floor(other) for other in graph[module]), default=0)

    return {module: floor(module) for module in graph}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=ROOT, metavar="FOLDER", help="the checkout to run (this one)")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, metavar="COMMAND", help="run only these commands")
    parser.add_argument("--list", action="store_true", help="print the calls that pass the data")
    record.add_output(parser, "walk")
    return parser.parse_args()


if __name__ == "__main__":
    main()
