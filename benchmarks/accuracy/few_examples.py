"""Labels from a few examples: the accuracy of each method on data with many classes, over several draws.

    python -m benchmarks.accuracy.few_examples --data clinc150 clinc-train.tsv clinc-test.tsv intent \
        --data banking77 banking-train.tsv banking-test.tsv category

Each draw takes so many rows of every class from the train file. Measured: accuracy on all rows of the test file, of each method on the
same vectors; and the seconds of `kb.FewShotClassifier.fit` on the first draw, vectors and cross-validation included. Rows of the class
`--without` are left out of both files.
"""

import argparse
import time

import numpy as np

from benchmarks.common import record
from benchmarks.common.over_seeds import over_seeds

PACKAGES = ("ai-edge-litert", "numpy", "tokenizers")


def main() -> None:
    """Measure every model on every data set, and write the result after each."""
    arguments = _arguments()
    import kerasbert as kb

    load, found = record.load(), {}
    for model in arguments.models:
        encoder = kb.open(model)
        for name, train, test, column in arguments.data:
            parts = [rows_of(path, column, arguments.without) for path in (train, test)]
            found.setdefault(model, {})[name] = _measured(kb, model, encoder, parts, arguments)
            print(model, name, found[model][name], flush=True)
            result = {"rows": arguments.rows, "draws": arguments.draws, "without": arguments.without, "models": found}
            record.write(arguments.json, result, record.versions(PACKAGES), load)


def rows_of(path: str, column: str, without: str) -> tuple[list[str], list[str]]:
    """Read the texts of a file and their labels, without the rows of one label."""
    import kerasbert as kb

    table = kb.data.read_table(path, text="text", label=column)
    rows = [(text, str(label)) for text, label in zip(table.x, table.y, strict=True) if str(label) != without]
    return [text for text, _ in rows], [label for _, label in rows]


def _measured(kb, model: str, encoder, parts: list, arguments: argparse.Namespace) -> dict:
    from kerasbert.few_shot.choice import layer
    from kerasbert.processors.few_shot import METHODS

    (texts, labels), (test_texts, test_labels) = parts
    names = sorted(set(labels))
    classes, truth = (np.array([names.index(label) for label in part]) for part in (labels, test_labels))
    most = max(arguments.rows)
    drawn = [draw(classes, len(names), most, seed) for seed in range(arguments.draws)]
    used = np.unique(np.concatenate([each.ravel() for each in drawn]))
    vectors = np.zeros((len(texts), encoder.processor.width), np.float32)
    vectors[used] = _unit(encoder([texts[row] for row in used]))
    test = _unit(encoder(test_texts))
    accuracy, seconds = {}, {}
    for rows in arguments.rows:
        scores: dict[str, list[float]] = {method: [] for method in METHODS}
        for each in drawn:
            chosen = each[:, :rows].ravel()
            for method in METHODS:
                linear = layer(method, vectors[chosen], classes[chosen], len(names))
                scores[method].append(float(np.mean(linear.probabilities(test).argmax(axis=1) == truth)))
        accuracy[rows] = {method: over_seeds(values) for method, values in scores.items()}
        few, chosen = kb.FewShotClassifier(model), drawn[0][:, :rows].ravel()
        begin = time.perf_counter()
        few.fit([texts[row] for row in chosen], [labels[row] for row in chosen])
        seconds[rows] = {"seconds": time.perf_counter() - begin, "method": few.taught.method}
    return {"classes": len(names), "test_rows": len(test_texts), "accuracy": accuracy, "fit": seconds}


def draw(classes: np.ndarray, count: int, rows: int, seed: int) -> np.ndarray:
    """Draw rows of each class: `(classes, rows)`, the first of which are the draw of fewer."""
    random = np.random.default_rng(seed)
    return np.stack([random.permutation(np.flatnonzero(classes == number))[:rows] for number in range(count)])


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", nargs=4, action="append", required=True, metavar=("NAME", "TRAIN", "TEST", "COLUMN"),
        help="a data set, with the column of its labels; repeatable",
    )  # fmt: skip
    parser.add_argument("--models", nargs="+", default=["search"], help="sentence encoders as .tflite files (search)")
    parser.add_argument("--rows", nargs="+", type=int, default=[1, 4, 8, 16], help="examples of each class")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--without", default="oos", metavar="LABEL", help="a class that is left out (oos)")
    record.add_output(parser, "few_examples")
    return parser.parse_args()


if __name__ == "__main__":
    main()
