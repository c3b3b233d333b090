"""Spearman correlation of a sentence encoder on STS-B with fewer numbers in its vectors.

    python -m benchmarks.accuracy.vector_dimensions CHECKPOINT --data FOLDER --test sts-test-labelled.tsv.gz [--texts texts.txt]

Measured for each number: principal directions of the vectors of STS-B's training sentences, in float and after calibration in static int8,
and of the lines of `--texts`; and the first numbers of the whole vector, for comparison. The folder holds GLUE's STS-B:
`sts-b/train.tsv.gz`. The test file has no header: the score is in the 5th column, the sentences are in the 6th and 7th.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "numpy")
RECIPE = "static_wi8_ai8"
CALIBRATION = 256  # texts


def main() -> None:
    """Reduce, measure and write the result."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.compression.pruning.structured.dimensions import principal_directions
    from kerasbert.data import read_glue, read_table, read_text
    from kerasbert.processors.metrics import cosine, spearman

    load = record.load()
    table = read_table(arguments.test, text="5", pair="6", label="4")
    scores = np.asarray(table.labels, np.float64)
    train = read_glue(arguments.data, "sts-b", "train")
    corpora = {"sts-b train": list(dict.fromkeys([*train.texts, *train.pairs]))}
    if arguments.texts is not None:
        corpora[arguments.texts.name] = read_text(arguments.texts, max_rows=arguments.max_rows).x
    whole = kb.SentenceEncoder.from_pretrained(arguments.checkpoint, sequence_length=arguments.length)

    def similarity(first: np.ndarray, second: np.ndarray) -> float:
        return float(spearman(cosine(first, second), scores))

    def measure_int8(task: kb.SentenceEncoder) -> float:
        task = kb.compression.quantize(task, RECIPE, calibration=corpora["sts-b train"][:CALIBRATION])
        return similarity(task.predict(table.texts), task.predict(table.pairs))

    pairs = whole.predict(table.texts), whole.predict(table.pairs)
    results = [{"dimensions": whole.width, "float32": similarity(*pairs), RECIPE: measure_int8(whole)}]
    directions = {
        name: principal_directions(whole.predict(texts), max(arguments.dimensions)) for name, texts in corpora.items()
    }
    directions["the first numbers"] = np.eye(whole.width, dtype=np.float32)
    for number in arguments.dimensions:
        for name, every in directions.items():
            kernel = every[:, :number]
            row = {"dimensions": number, "texts": name, "float32": similarity(*(side @ kernel for side in pairs))}
            results.append(row if name != "sts-b train" else {**row, RECIPE: measure_int8(_projected(whole, kernel))})
            print(results[-1], flush=True)
    result = {
        "checkpoint": Path(arguments.checkpoint).name,
        "pairs": len(scores),
        "texts": {name: len(texts) for name, texts in corpora.items()},
        "sequence_length": arguments.length,
        "results": results,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _projected(task, kernel: np.ndarray):
    """Return a copy of a sentence encoder with a projection, as `reduce_dimensions` makes it."""
    projected = type(task).from_config({**task.get_config(), "dimensions": kernel.shape[1]})
    weights = {**task.variables_by_path(), "projection.kernel": kernel}
    for path, variable in projected.variables_by_path().items():
        variable.assign(weights[path])
    return projected


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a sentence-transformers folder with a BERT")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="a folder of data sets")
    parser.add_argument("--test", required=True, metavar="FILE", help="STS-B's labelled test part")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="other texts to find directions on, one a line")
    parser.add_argument("--max-rows", type=int, default=4_000, metavar="N", help="lines of --texts to read")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[256, 128, 64], metavar="N")
    parser.add_argument("--length", type=int, default=128, metavar="N")
    record.add_output(parser, "vector_dimensions")
    return parser.parse_args()


if __name__ == "__main__":
    main()
