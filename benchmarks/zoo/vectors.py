"""Sentence vectors of encoders: STS-B, linear probes and few examples for each class, in Keras and from int8 files.

    python -m benchmarks.zoo.vectors mini-en small-en --beside all-MiniLM-L6-v2 --data DATA --calibration texts.txt

Measured for each model: Spearman correlation on STS-B dev and test; the accuracy of a logistic regression on frozen vectors, and of
the nearest class centre of 8 examples a class (10 draws), on CLINC150 (150 intents, without out-of-scope texts), Banking77, SNIPS
(validation part) and the bundled assistant data. Models are names in the zoo, by default all encoders. `--data` is the folder of the
data sets.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.open_lines import read_json_lines
from benchmarks.zoo.rows import add_models, int8_file, make_result, model_names

SHOTS, DRAWS = 8, 10
LENGTH = 128
PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "tokenizers", "numpy", "scikit-learn")
Split = tuple[list[str], list[str]]
Encode = Callable[[Sequence[str]], np.ndarray]


def main() -> None:
    """Measure every model, and add its lines to `zoo/results.csv` unless `--dry-run` is given."""
    arguments = _arguments()
    from kerasbert.zoo.results import add_results

    load = record.load()
    measured = json.loads(arguments.json.read_text("utf-8"))["models"] if arguments.json.is_file() else {}
    for name in model_names(arguments):
        lines: list = []
        measured[Path(name).name] = _measure(name, arguments, lines)
        print(name, json.dumps(measured[Path(name).name]), flush=True)
        if not arguments.dry_run:
            add_results(lines)
        record.write(arguments.json, {"models": measured}, record.versions(PACKAGES), load)


def _measure(name: str, arguments: argparse.Namespace, lines: list) -> dict:
    import kerasbert as kb
    from kerasbert.data.plain_text import read_text

    task = kb.SentenceEncoder.from_pretrained(name, sequence_length=LENGTH)
    sides: dict[str, tuple[str, Encode]] = {"float": ("keras", lambda texts: task.predict(list(texts), batch_size=64))}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "int8.tflite"
        calibration = read_text(arguments.calibration, max_rows=arguments.rows).x
        int8_file(task, calibration, [32, 64, 128]).save(path)
        opened = kb.open(path, threads=2)
        sides["int8"] = (
            "xnnpack",
            lambda texts: np.asarray(opened(list(texts))),
        )
        results = {}
        for file, (backend, encode) in sides.items():
            scores = {**_similarity(encode, arguments.data), **_probes(encode, arguments.data)}
            results[file] = scores
            short = Path(name).name
            for (data, metric), value in scores.items():
                lines.append(make_result(short, file, data, metric, [value], backend))
    return {file: {", ".join(key): value for key, value in scores.items()} for file, scores in results.items()}


def _similarity(encode: Encode, data: Path) -> dict[tuple[str, str], float]:
    from kerasbert.data import read_table
    from kerasbert.processors.metrics import spearman

    parts = {
        "STS-B dev": read_table(data / "sts-b/dev.tsv.gz", text="sentence1", pair="sentence2", label="score"),
        "STS-B test": read_table(data / "sts-b/sts-test-labelled.tsv.gz", text="5", pair="6", label="4"),
    }
    scores = {}
    for part, table in parts.items():
        first, second = encode(table.texts), encode(table.pairs or [])
        truth = np.asarray(table.labels, np.float64)
        scores[part, "Spearman"] = float(spearman(truth, (first * second).sum(axis=1)))
    return scores


def _probes(encode: Encode, data: Path) -> dict[tuple[str, str], float]:
    from sklearn.linear_model import LogisticRegression

    scores = {}
    for name, (train, test) in _splits(data).items():
        vectors, labels = encode(train[0]), np.array(train[1])
        probes, truth = encode(test[0]), np.array(test[1])
        regression = LogisticRegression(C=10, max_iter=2000).fit(vectors, labels)
        scores[name, "probe accuracy"] = float((regression.predict(probes) == truth).mean())
        scores[name, f"accuracy, {SHOTS} examples a class"] = _few_examples(vectors, labels, probes, truth)
    return scores


def _few_examples(vectors: np.ndarray, labels: np.ndarray, probes: np.ndarray, truth: np.ndarray) -> float:
    """The mean accuracy of the nearest class centre over several draws of examples."""
    classes, accuracies = np.unique(labels), []
    for draw in range(DRAWS):
        generator = np.random.default_rng(draw)
        chosen = [generator.choice(np.flatnonzero(labels == label), SHOTS, replace=False) for label in classes]
        centres = np.stack([vectors[rows].mean(axis=0) for rows in chosen])
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        accuracies.append((classes[(probes @ centres.T).argmax(axis=1)] == truth).mean())
    return float(np.mean(accuracies))


def _splits(data: Path) -> dict[str, tuple[Split, Split]]:
    from kerasbert.data import assistant, read_table

    def table(path: str, text: str, label: str) -> Split:
        read = read_table(data / path, text=text, label=label)
        rows = [(text, label) for text, label in zip(read.texts, read.labels or [], strict=True) if label != "oos"]
        return [row[0] for row in rows], [row[1] for row in rows]

    def lines(path: str) -> Split:
        found = read_json_lines(data / path)
        return [each["text"] for each in found], [each["intent"] for each in found]

    bundled = {part: assistant.load(part) for part in ("train", "test")}
    return {
        "CLINC150 test": (table("clinc150/train.tsv.gz", "text", "intent"), table("clinc150/test.tsv.gz", "text", "intent")),
        "Banking77 test": (table("banking77/train.tsv.gz", "text", "category"), table("banking77/test.tsv.gz", "text", "category")),
        "SNIPS validation": (lines("snips/train.jsonl.gz"), lines("snips/validate.jsonl.gz")),
        "assistant test": tuple((split.texts, split.intents) for split in bundled.values()),  # type: ignore[dict-item]
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_models(parser)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the data sets")
    parser.add_argument("--calibration", required=True, metavar="FILE", help="texts for the int8 ranges, one a line")
    parser.add_argument("--rows", type=int, default=500, metavar="N", help="number of calibration texts (500)")
    parser.add_argument("--dry-run", action="store_true", help="leave zoo/results.csv as it is")
    record.add_output(parser, "zoo_vectors")
    return parser.parse_args()


if __name__ == "__main__":
    main()
