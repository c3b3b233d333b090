"""Accuracy of `small-en` on the bundled data: fine-tuned from the shipped weights, and trained from scratch.

python -m kerasbert.zoo.measure_small --seeds 3
"""

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from kerasbert.data import assistant
from kerasbert.zoo import small_model
from kerasbert.zoo.quickstart import BATCH_SIZE, EPOCHS, LEARNING_RATE, SEQUENCE_LENGTH, accuracy


def main() -> None:
    """Print one line for each run, and the mean of each kind."""
    parser = argparse.ArgumentParser(description="Fine-tunes the shipped BERT and one from scratch.")
    parser.add_argument("--folder", type=Path, default=small_model(), help="another model's folder")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--learning-rate", type=float, default=LEARNING_RATE)
    parser.add_argument("--kinds", nargs="*", choices=("shipped", "scratch"), default=("shipped", "scratch"))
    options = parser.parse_args()
    for kind in options.kinds:
        scores = []
        for seed in range(options.seeds):
            start = time.monotonic()
            scores.append(_score(kind, options.folder, seed, options.epochs, options.learning_rate))
            print(f"{kind}, seed {seed}: {_format_scores(scores[-1])} ({time.monotonic() - start:.0f} s)", flush=True)
        mean, deviation = np.mean(scores, axis=0), np.std(scores, axis=0)
        print(f"{kind}, mean: {_format_scores(mean)}; standard deviation of test {deviation[1]:.1%}", flush=True)


def _score(kind: str, folder: Path, seed: int, epochs: int, learning_rate: float) -> list[float]:
    """Accuracy on dev, on test, and on the paraphrases of test."""
    import tf_keras as keras

    import kerasbert as kb

    keras.utils.set_random_seed(seed)
    train, dev, test = map(assistant.load, assistant.SPLITS)
    model = kb.TextClassifier.from_pretrained(folder, labels=assistant.INTENTS, sequence_length=SEQUENCE_LENGTH)
    if kind == "scratch":
        model = type(model).from_config(model.get_config())  # the same sizes and vocabulary, new weights
    steps = epochs * -(-len(train) // BATCH_SIZE)
    model.compile(kb.adamw(learning_rate, warmup=0.1, steps=steps))
    model.fit(train.texts, train.intents, batch_size=BATCH_SIZE, epochs=epochs, seed=seed, verbose=0)
    return [accuracy(model, split.texts, split.intents) for split in (dev, test, test.with_source("paraphrase"))]


def _format_scores(scores: Iterable[float]) -> str:
    return ", ".join(f"{name} {score:.1%}" for name, score in zip(("dev", "test", "paraphrase"), scores, strict=True))


if __name__ == "__main__":
    main()
