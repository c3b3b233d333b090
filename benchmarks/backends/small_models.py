"""Small models of each architecture and head: random weights for `benchmarks.backends.targets`, or trained on real tasks.

    python -m benchmarks.backends.small_models --vocabulary vocab.txt --data FOLDER --out models

Trains tiny models from random weights with `kerasbert train`, for some minutes each: classifiers on SST-2, taggers on CoNLL-2003, question
answerers on SubjQA. `--data` is the folder of the data sets in `benchmarks.common.finetuning_cases`. Without pretraining their scores are
low, but their predictions are confident, unlike those of random weights. Models that exist already are kept.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common.finetuning_cases import CASES

if TYPE_CHECKING:
    from kerasbert.encoders.base import Encoder
    from kerasbert.tasks.base import Task

ARCHITECTURES = ("bert", "albert", "mobilebert")
HEADS = ("classifier", "tagger", "question_answerer")
# MiniLM has 6 blocks of width 384. With these deviations of random weights, outputs differ between inputs.
SIZES = {
    "tiny": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "initializer_range": 0.15},
    "minilm": {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536, "initializer_range": 0.06},
}  # fmt: skip
NARROW = {
    "tiny": {"embedding_size": 32, "intra_bottleneck_size": 32},
    "minilm": {"embedding_size": 128, "intra_bottleneck_size": 96},
}
# Deviation of random weights for training: initial gradients stay small.
TRAINING_INITIALIZER_RANGE = 0.04
# For each head: the data set, the number of rows, and tokens per row.
TRAINED_ON = {
    "classifier": ("sst-2", 20_000, 64),
    "tagger": ("conll2003", 14_000, 64),
    "question_answerer": ("subjqa", 2_000, 128),
}
EPOCHS, LEARNING_RATE, WARMUP = 4, 1e-3, 0.06


def small_encoder(
    words: list[str], size: str, architecture: str, *, pooler: bool, initializer_range: float | None = None
) -> "Encoder":
    """Build an encoder with random weights.

    Args:
        words: The vocabulary.
        size: A key of `SIZES`.
        architecture: A model type of `ARCHITECTURES`.
        pooler: Whether it has a pooler.
        initializer_range: Deviation of the weights; by default that of the size.
    """
    from kerasbert.encoders import encoder_class

    encoder = encoder_class(architecture)
    sizes = {**SIZES[size], "vocab_size": len(words), "max_position_embeddings": 128}
    if architecture == "mobilebert":
        sizes |= {**NARROW[size], "hidden_act": "relu", "num_attention_heads": 4}
    elif architecture == "albert":
        sizes |= {"embedding_size": NARROW[size]["embedding_size"]}
    if initializer_range is not None:
        sizes["initializer_range"] = initializer_range
    return encoder(encoder.config_class(**sizes), pooler=pooler)


def small_model(words: list[str], size: str, architecture: str, head: str, length: int) -> "Task":
    """Build a task with random weights over a WordPiece vocabulary.

    Args:
        words: The vocabulary.
        size: A key of `SIZES`.
        architecture: A model type of `ARCHITECTURES`.
        head: One of `HEADS`.
        length: Tokens of a row.
    """
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.text import WordPiece

    keras.utils.set_random_seed(1)
    encoder = small_encoder(words, size, architecture, pooler=head == "classifier")
    tokenizer, settings = WordPiece(words), {"sequence_length": length}
    if head == "classifier":
        return kb.TextClassifier(encoder, tokenizer, labels=["a", "b", "c"], **settings)
    if head == "tagger":
        return kb.TokenTagger(encoder, tokenizer, labels=["O", "B-X", "I-X", "B-Y", "I-Y"], **settings)
    return kb.QuestionAnswerer(encoder, tokenizer, **settings)


def main() -> None:
    """Train the missing models."""
    arguments = _arguments()
    words = arguments.vocabulary.read_text("utf-8").splitlines()
    for head in arguments.heads:
        for architecture in arguments.architectures:
            out = arguments.out / f"tiny-{architecture}-{head.replace('_', '-')}"
            if not out.is_dir():
                _train(words, architecture, head, arguments.data, out)


def _train(words: list[str], architecture: str, head: str, data: Path, out: Path) -> None:
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.text import WordPiece

    name, rows, length = TRAINED_ON[head]
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start"
        keras.utils.set_random_seed(1)
        encoder = small_encoder(words, "tiny", architecture, pooler=True, initializer_range=TRAINING_INITIALIZER_RANGE)
        kb.SentenceEncoder(encoder, WordPiece(words)).save_pretrained(start)
        command = [
            sys.executable, "-m", "kerasbert.cli", "train", "--task", case.task, "--model", start,
            "--train", data / case.train, "--max-rows", rows, "--out", out, "--sequence-length", length,
            "--epochs", EPOCHS, "--learning-rate", LEARNING_RATE, "--warmup", WARMUP, "--seed", 1,
        ]  # fmt: skip
        subprocess.run(list(map(str, command)), check=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--vocabulary", type=Path, required=True, metavar="FILE", help="vocab.txt of an uncased checkpoint"
    )
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the data sets")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where models go")
    parser.add_argument("--architectures", nargs="+", choices=ARCHITECTURES, default=list(ARCHITECTURES))
    parser.add_argument("--heads", nargs="+", choices=HEADS, default=list(HEADS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
