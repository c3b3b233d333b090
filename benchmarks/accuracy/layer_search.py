"""Choices of layers of a sentence encoder: their similarity to the full model, and their correlation on STS-B without training.

    python -m benchmarks.accuracy.layer_search CHECKPOINT --data FOLDER --test sts-test-labelled.tsv.gz

Measured for each number of layers: the time of the search over STS-B's training sentences, the Spearman correlation of its best choices,
of the fixed strategies and of `--layers`, and the rank correlation of similarity and Spearman correlation over these choices. The folder
holds GLUE's STS-B: `sts-b/train.tsv.gz`. The test file has no header: the score is in the 5th column, the sentences are in the 6th and
7th.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "numpy")


def main() -> None:
    """Search, measure and write the result."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.compression.pruning.structured import drop_layers, search_layers
    from kerasbert.data import read_glue, read_table
    from kerasbert.processors.metrics import spearman

    load = record.load()
    table = read_table(arguments.test, text="5", pair="6", label="4")
    texts = read_glue(arguments.data, "sts-b", "train").texts
    task = kb.SentenceEncoder.from_pretrained(arguments.checkpoint, sequence_length=arguments.length)
    named = {tuple(int(layer) for layer in layers.split(",")) for layers in arguments.layers}

    def similarity(model: kb.SentenceEncoder) -> float:
        return model.score((table.texts, table.pairs), table.labels)["Spearman"]

    searches = []
    for keep in arguments.keep:
        start = time.perf_counter()
        choices = search_layers(task, keep, texts, rows=arguments.rows)
        seconds = time.perf_counter() - start
        measured = []
        for rank, choice in enumerate(choices, 1):
            if rank > arguments.top and not choice.strategies and choice.layers not in named:
                continue
            pruned = drop_layers(task, layers=choice.layers)
            facts = {
                "rank": rank,
                "layers": choice.layers,
                "strategies": choice.strategies,
                "cosine": choice.similarity,
            }
            measured.append({**facts, "spearman": similarity(pruned)})
            print(measured[-1], flush=True)
        ranks = spearman(*(np.array([each[name] for each in measured]) for name in ("cosine", "spearman")))
        searches.append(
            {"keep": keep, "tried": len(choices), "seconds": seconds, "rank_correlation": ranks, "choices": measured}
        )
    result = {
        "checkpoint": Path(arguments.checkpoint).name,
        "pairs": len(table.texts),
        "rows": arguments.rows,
        "whole": similarity(task),
        "searches": searches,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a sentence-transformers folder with a BERT")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="a folder of data sets")
    parser.add_argument("--test", required=True, metavar="FILE", help="STS-B's labelled test part")
    parser.add_argument("--keep", type=int, nargs="+", default=[3], metavar="N", help="numbers of layers")
    parser.add_argument("--layers", nargs="*", default=["0,3,5", "0,2,4"], metavar="N,N,...", help="further choices")
    parser.add_argument("--top", type=int, default=3, metavar="N", help="best choices that are measured")
    parser.add_argument("--rows", type=int, default=256, metavar="N", help="texts that choices are compared on")
    parser.add_argument("--length", type=int, default=128, metavar="N")
    record.add_output(parser, "layer_search")
    return parser.parse_args()


if __name__ == "__main__":
    main()
