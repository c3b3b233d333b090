"""Spearman correlation of a sentence encoder on STS-B, in Keras and through its `.tflite` files.

    python -m benchmarks.accuracy.sentence_similarity CHECKPOINT --test sts-test-labelled.tsv.gz

Measured: the correlation of each recipe's file, its size and its XNNPACK partitions. The test file has no header: the score is in the 5th
column, the sentences are in the 6th and 7th.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "tokenizers", "numpy")


def main() -> None:
    """Convert, measure and write the result."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.data import read_table
    from kerasbert.export.runtime.interpreters import open_model
    from kerasbert.processors.metrics import spearman

    load = record.load()
    table = read_table(arguments.test, text="5", pair="6", label="4")
    scores = np.asarray(table.labels, np.float64)
    task = kb.SentenceEncoder.from_pretrained(arguments.checkpoint, sequence_length=arguments.length)

    def similarity(first: np.ndarray, second: np.ndarray) -> float:
        return float(spearman((first * second).sum(1), scores))

    results: dict[str, dict] = {
        "keras_float32": {"spearman": similarity(task.predict(table.texts), task.predict(table.pairs))}
    }
    packed_sides = [task.pack(texts) for texts in (table.texts, table.pairs)]
    with tempfile.TemporaryDirectory() as folder:
        for recipe in arguments.recipes:
            path = kb.export.convert(task, recipe).save(Path(folder) / f"{recipe}.tflite")
            model = open_model(path)
            first, second = (_vectors(model, packed) for packed in packed_sides)
            results[recipe] = {
                "spearman": similarity(first, second),
                "partitions": model.partitions,
                **record.file_facts(path),
            }
            print(recipe, results[recipe], flush=True)
    print("keras_float32", results["keras_float32"])
    result = {
        "checkpoint": Path(arguments.checkpoint).name,
        "data": Path(arguments.test).name,
        "pairs": len(scores),
        "sequence_length": arguments.length,
        "results": results,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _vectors(model, packed: dict) -> np.ndarray:
    rows = len(packed["input_ids"])
    runs = (model.run({name: values[i : i + 1] for name, values in packed.items()}) for i in range(rows))
    return np.concatenate([outputs["embedding"] for outputs in runs])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a sentence-transformers folder with a BERT")
    parser.add_argument("--test", required=True, metavar="FILE", help="STS-B's labelled test part")
    parser.add_argument("--length", type=int, default=128, metavar="N")
    parser.add_argument("--recipes", nargs="+", default=["float32", "dynamic_wi8_afp32"], metavar="NAME")
    record.add_output(parser, "sentence_similarity")
    return parser.parse_args()


if __name__ == "__main__":
    main()
