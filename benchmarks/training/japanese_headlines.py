"""Japanese headlines in nine classes: small encoders without pretraining against a bag of words.

    python -m benchmarks.training.japanese_headlines --headlines headlines.tsv.gz --vocabulary vocab.txt.gz

Measured: accuracy with 100 training and 100 test rows per class, over several seeds. The file has columns category and title; the
vocabulary is one for MeCab's words.

Each seed draws its own rows. The bag of words is TF-IDF over MeCab's words with logistic regression. The encoders are a small BERT with
random weights, and the same after masked language modelling on the other headlines (`--pretraining-epochs 0` omits it).
"""

import argparse
import gzip
import time
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.over_seeds import over_seeds
from kerasbert.text import JapaneseTokenizer

ROWS_PER_CLASS = 100
SIZES = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512}
PACKAGES = ("tensorflow", "tf-keras", "scikit-learn", "fugashi", "unidic-lite", "numpy")


def main() -> None:
    """Train all models of all seeds and write the result."""
    arguments = _arguments()
    from kerasbert.data import read_table

    load = record.load()
    table = read_table(arguments.headlines, text="title", label="category")
    open_file = gzip.open if str(arguments.vocabulary).endswith(".gz") else open
    with open_file(arguments.vocabulary, "rt", encoding="utf-8", newline="\n") as file:
        tokenizer = JapaneseTokenizer([line.rstrip("\n") for line in file])
    runs = []
    for seed in arguments.seeds:
        train, test, rest = _split(np.array(table.labels), seed)
        parts = [[table.texts[i] for i in rows] for rows in (train, test, rest)]
        labels = [[table.labels[i] for i in rows] for rows in (train, test)]
        scores = {"bag_of_words": _bag_of_words(tokenizer, parts, labels)}
        scores["bert_from_scratch"], seconds = _bert(arguments, tokenizer, parts, labels, seed, 0)
        if arguments.pretraining_epochs:
            scores["bert_after_masked_lm"], _ = _bert(
                arguments, tokenizer, parts, labels, seed, arguments.pretraining_epochs
            )
        runs.append({"seed": seed, "train": len(train), "test": len(test), "seconds": seconds, "accuracy": scores})
        print(runs[-1], flush=True)
    summary = {}
    for model in runs[0]["accuracy"]:
        summary[model] = over_seeds([run["accuracy"][model] for run in runs])
    summary["bert_from_scratch_beats_bag_of_words"] = (
        summary["bert_from_scratch"]["mean"] > summary["bag_of_words"]["mean"]
    )
    result = {
        "data": Path(arguments.headlines).name, "sizes": SIZES, "epochs": arguments.epochs, "learning_rate": arguments.learning_rate,
        "pretraining_epochs": arguments.pretraining_epochs, "summary": summary, "runs": runs,
    }  # fmt: skip
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _split(labels: np.ndarray, seed: int) -> tuple[list[int], list[int], list[int]]:
    """Draw row numbers of each class for training and for testing; the third list has the remaining rows."""
    random = np.random.default_rng(seed)
    train, test, rest = [], [], []
    for name in np.unique(labels):
        rows = random.permutation(np.flatnonzero(labels == name)).tolist()
        train += rows[:ROWS_PER_CLASS]
        test += rows[ROWS_PER_CLASS : 2 * ROWS_PER_CLASS]
        rest += rows[2 * ROWS_PER_CLASS :]
    return train, test, rest


def _bag_of_words(tokenizer: JapaneseTokenizer, parts: list[list[str]], labels: list[list]) -> float:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = [
        [" ".join(map(str, row)) for row in tokenizer.encode(texts, max_length=512).input_ids] for texts in parts[:2]
    ]
    model = make_pipeline(
        TfidfVectorizer(token_pattern=r"\S+", sublinear_tf=True), LogisticRegression(C=10, max_iter=2000)
    )
    return float(model.fit(words[0], labels[0]).score(words[1], labels[1]))


def _bert(
    arguments: argparse.Namespace,
    tokenizer: JapaneseTokenizer,
    parts: list[list[str]],
    labels: list[list],
    seed: int,
    pretraining_epochs: int,
) -> tuple[float, float]:
    """Train a small BERT; returns the test accuracy and the seconds of fine-tuning."""
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.encoders import BertConfig, BertEncoder

    keras.utils.set_random_seed(seed)
    encoder = BertEncoder(BertConfig(vocab_size=tokenizer.vocabulary_size, max_position_embeddings=64, **SIZES))
    if pretraining_epochs:
        language = kb.MaskedLM(encoder, tokenizer, sequence_length=48)
        texts = parts[2] + parts[0]
        steps = -(-len(texts) // 32) * pretraining_epochs
        language.compile(kb.adamw(5e-4, 0.06, steps))
        language.fit(texts, epochs=pretraining_epochs, seed=seed, verbose=0)
    task = kb.TextClassifier(encoder, tokenizer, labels=sorted(set(labels[0])), sequence_length=48)
    steps = -(-len(parts[0]) // 32) * arguments.epochs
    task.compile(kb.adamw(arguments.learning_rate, 0.06, steps))
    start = time.perf_counter()
    task.fit(parts[0], labels[0], epochs=arguments.epochs, seed=seed, verbose=0)
    seconds = time.perf_counter() - start
    return task.score(parts[1], labels[1])["accuracy"], seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headlines", required=True, metavar="FILE")
    parser.add_argument("--vocabulary", required=True, metavar="FILE")
    parser.add_argument("--epochs", type=int, default=20, metavar="N")
    parser.add_argument("--learning-rate", type=float, default=5e-4, metavar="RATE")
    parser.add_argument("--pretraining-epochs", type=int, default=10, metavar="N")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    record.add_output(parser, "japanese_headlines")
    return parser.parse_args()


if __name__ == "__main__":
    main()
