"""Spearman of a sentence encoder on STS-B after fine-tuning on its pairs.

    python -m benchmarks.training.sentence_pairs CHECKPOINT --data FOLDER

Measured: the Spearman correlation on the dev set of the checkpoint itself, after training on scored pairs, and after training on similar
pairs alone (in-batch negatives). The folder holds GLUE's STS-B: `sts-b/train.tsv.gz` and `sts-b/dev.tsv.gz`.

Each seed starts from the checkpoint; the last epoch counts.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.over_seeds import over_seeds

SCORES = (0, 5)
PACKAGES = ("tensorflow", "tf-keras", "numpy", "tokenizers")


def main() -> None:
    """Train all ways and seeds and write the result."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.data import read_glue
    from kerasbert.losses import CosineLoss, InBatchNegatives

    load = record.load()
    train, dev = (read_glue(arguments.data, "sts-b", part) for part in ("train", "dev"))
    scores = np.asarray(train.labels, np.float32)
    similar = np.flatnonzero(scores >= arguments.alike).tolist()
    pairs = [train.texts, train.pairs]
    ways = {
        "scores": ((*pairs, scores), CosineLoss(scores=SCORES), arguments.epochs, arguments.learning_rate),
        "alike_pairs": (([[side[i] for i in similar] for side in pairs] + [None]), InBatchNegatives(), 1, 2e-5),
    }
    baseline = _encoder(kb, arguments).score(dev)
    print("unfitted", baseline, flush=True)
    runs = []
    for seed in arguments.seeds:
        for name, ((texts, others, targets), loss, epochs, rate) in ways.items():
            task = _encoder(kb, arguments, seed)
            task.compile(kb.adamw(rate, 0.06, -(-len(texts) // 32) * epochs), loss=loss)
            start = time.perf_counter()
            task.fit((texts, others), targets, epochs=epochs, batch_size=32, seed=seed, verbose=0)
            seconds = time.perf_counter() - start
            runs.append({"way": name, "seed": seed, "pairs": len(texts), "seconds": seconds, "dev": task.score(dev)})
            print(runs[-1], flush=True)
    summary = {"unfitted": {"Spearman": {"mean": baseline["Spearman"]}}}
    for name in ways:
        values = [run["dev"]["Spearman"] for run in runs if run["way"] == name]
        summary[name] = {"Spearman": over_seeds(values)}
    settings = {"epochs": arguments.epochs, "learning_rate": arguments.learning_rate, "alike": arguments.alike}
    result = {"checkpoint": Path(arguments.checkpoint).name, "settings": settings, "summary": summary, "runs": runs}
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _encoder(kb, arguments: argparse.Namespace, seed: int = 1):
    import tf_keras as keras

    keras.utils.set_random_seed(seed)
    return kb.SentenceEncoder.from_pretrained(arguments.checkpoint, sequence_length=128)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a sentence-transformers folder with a BERT")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--epochs", type=int, default=2, metavar="N")
    parser.add_argument("--learning-rate", type=float, default=5e-5, metavar="RATE")
    parser.add_argument(
        "--alike", type=float, default=4.0, metavar="SCORE", help="pairs of at least this score are similar"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    record.add_output(parser, "sentence_pairs")
    return parser.parse_args()


if __name__ == "__main__":
    main()
