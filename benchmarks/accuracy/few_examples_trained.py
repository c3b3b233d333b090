"""Labels from a few examples with training of the encoder, beside SetFit in PyTorch on the same rows.

    python -m benchmarks.accuracy.few_examples_trained mini-en --data snips snips-train.jsonl snips-dev.jsonl intent \
        --peer-python peers/bin/python

Measured on each draw of `benchmarks.accuracy.few_examples`: the accuracy on all rows of the test file, and the seconds of one training,
the loading of the model included, on `--threads` threads for both. Ours is `kb.FewShotClassifier(method="trained")` without its
cross-validation; the accuracy is that of the float model. Draws are added to the result file one by one: the same command goes on.
"""

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.few_examples import draw, rows_of
from benchmarks.common import record
from benchmarks.common.over_seeds import over_seeds

PACKAGES = ("tensorflow", "tf-keras", "numpy", "tokenizers")
OURS, PEER = "trained", "SetFit"


def main() -> None:
    """Measure what the result file lacks, and write it after each draw."""
    arguments = _arguments()
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    load, path = record.load(), Path(arguments.json)
    runs = json.loads(path.read_text("utf-8"))["runs"] if path.exists() and path.stat().st_size else []
    peer = _peer(arguments)
    for name, train, test, column in arguments.data:
        parts = [rows_of(file, column, arguments.without) for file in (train, test)]
        names = sorted(set(parts[0][1]))
        classes, truth = (np.array([names.index(label) for label in labels]) for _, labels in parts)
        for rows in arguments.rows:
            for seed in range(arguments.draws):
                chosen = draw(classes, len(names), max(rows, *arguments.rows), seed)[:, :rows].ravel()
                given = {
                    "texts": [parts[0][0][row] for row in chosen], "labels": classes[chosen].tolist(),
                    "test": parts[1][0], "seed": seed,
                }  # fmt: skip
                for method in (OURS, *([PEER] if peer else [])):
                    key = {"data": name, "classes": len(names), "rows": rows, "draw": seed, "method": method}
                    if any(all(run[part] == value for part, value in key.items()) for run in runs):
                        continue
                    found = _trained(arguments.model, given) if method == OURS else _asked(peer, given)
                    accuracy = float(np.mean(np.array(found["predictions"]) == truth))
                    runs.append({**key, "accuracy": accuracy, "seconds": found["seconds"]})
                    print(runs[-1], flush=True)
                    result = {
                        "model": Path(arguments.model).name, "threads": arguments.threads,
                        "summary": _summary(runs), "runs": runs,
                    }  # fmt: skip
                    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _trained(model: str, given: dict[str, Any]) -> dict[str, Any]:
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.few_shot.training import Trainings

    keras.utils.set_random_seed(1 + given["seed"])
    begin = time.perf_counter()
    task = kb.SentenceEncoder.from_pretrained(model)
    classes = np.array(given["labels"])
    trainings = Trainings(task, int(classes.max()) + 1)
    layer = trainings.train(given["texts"], classes)
    seconds = time.perf_counter() - begin
    predictions = layer.probabilities(trainings.vectors(given["test"])).argmax(axis=1)
    return {"predictions": predictions.tolist(), "seconds": seconds}


def _peer(arguments: argparse.Namespace) -> subprocess.Popen | None:
    if arguments.peer_python is None:
        return None
    from kerasbert.zoo.catalog import models

    shipped = {model.name: str(model.path) for model in models()}
    script = Path(__file__).with_name("setfit_peer.py")
    command = [arguments.peer_python, script, shipped.get(arguments.model, arguments.model), str(arguments.threads)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def _asked(peer: subprocess.Popen, given: dict[str, Any]) -> dict[str, Any]:
    assert peer.stdin is not None and peer.stdout is not None
    peer.stdin.write(json.dumps(given) + "\n")
    peer.stdin.flush()
    answer = peer.stdout.readline()
    if not answer:
        raise SystemExit("expected an answer of SetFit, received none; run benchmarks/accuracy/setfit_peer.py by hand")
    return json.loads(answer)


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for run in runs:
        place = summary.setdefault(run["data"], {}).setdefault(str(run["rows"]), {})
        place.setdefault(run["method"], []).append(run)
    for place in (place for rows in summary.values() for place in rows.values()):
        for method, each in place.items():
            seconds = float(np.median([run["seconds"] for run in each]))
            place[method] = {**over_seeds([run["accuracy"] for run in each]), "seconds": seconds}
    return summary


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a sentence encoder's folder, or one of the zoo")
    parser.add_argument(
        "--data", nargs=4, action="append", required=True, metavar=("NAME", "TRAIN", "TEST", "COLUMN"),
        help="a data set, with the column of its labels; repeatable",
    )  # fmt: skip
    parser.add_argument("--rows", nargs="+", type=int, default=[1, 4, 8, 16], help="examples of each class")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--without", default="oos", metavar="LABEL", help="a class that is left out (oos)")
    parser.add_argument("--peer-python", metavar="PYTHON", help="a Python with setfit, to run it beside")
    record.add_output(parser, "few_examples_trained")
    return parser.parse_args()


if __name__ == "__main__":
    main()
