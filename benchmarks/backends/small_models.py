"""Small models of each architecture and kind of head: of random weights for `targets.py`, or trained on real tasks and saved.

    python -m benchmarks.backends.small_models --vocabulary vocab.txt --data FOLDER --out models

trains tiny ones from random weights with `kerasbert train`, for some minutes each: classifiers on SST-2, taggers on CoNLL-2003, question
answerers on SubjQA (`--data` holds the folders that finetuning_cases.py names). Without pretraining they score low; but they decide, which
random weights do not. What is in the folder already is kept.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common.finetuning_cases import CASES

ARCHITECTURES = ("bert", "albert", "mobilebert")
HEADS = ("classifier", "tagger", "question_answerer")
# MiniLM's: 6 blocks of 384. Deviations of the first weights that keep what comes out from being the same everywhere.
SIZES = {
    "tiny": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "initializer_range": 0.15},
    "minilm": {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536, "initializer_range": 0.06},
}  # fmt: skip
NARROW = {
    "tiny": {"embedding_size": 32, "intra_bottleneck_size": 32},
    "minilm": {"embedding_size": 128, "intra_bottleneck_size": 96},
}
# To learn from: a deviation of the first weights that keeps gradients small at first.
FIRST_WEIGHTS = 0.04
# Of each head: what it is trained on, how many rows of it, and tokens a row.
TRAINED_ON = {
    "classifier": ("sst-2", 20_000, 64),
    "tagger": ("conll2003", 14_000, 64),
    "question_answerer": ("subjqa", 2_000, 128),
}
EPOCHS, LEARNING_RATE, WARMUP = 4, 1e-3, 0.06


def small_encoder(words: list[str], size: str, architecture: str, *, pooler: bool, first_weights: float | None = None):
    """An encoder of random weights for a vocabulary. first_weights: their deviation; by default the size's."""
    from kerasbert.encoders import encoder_class

    encoder = encoder_class(architecture)
    sizes = {**SIZES[size], "vocab_size": len(words), "max_position_embeddings": 128}
    if architecture == "mobilebert":
        sizes |= {**NARROW[size], "hidden_act": "relu", "num_attention_heads": 4}
    elif architecture == "albert":
        sizes |= {"embedding_size": NARROW[size]["embedding_size"]}
    if first_weights is not None:
        sizes["initializer_range"] = first_weights
    return encoder(encoder.config_class(**sizes), pooler=pooler)


def small_model(words: list[str], size: str, architecture: str, head: str, length: int):
    """A task of random weights over a WordPiece vocabulary. length: tokens a row."""
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.text import WordPiece

    keras.utils.set_random_seed(1)
    made = small_encoder(words, size, architecture, pooler=head == "classifier")
    tokenizer, settings = WordPiece(words), {"sequence_length": length}
    if head == "classifier":
        return kb.TextClassifier(made, tokenizer, labels=["a", "b", "c"], **settings)
    if head == "tagger":
        return kb.TokenTagger(made, tokenizer, labels=["O", "B-X", "I-X", "B-Y", "I-Y"], **settings)
    return kb.QuestionAnswerer(made, tokenizer, **settings)


def main() -> None:
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
        encoder = small_encoder(words, "tiny", architecture, pooler=True, first_weights=FIRST_WEIGHTS)
        kb.SentenceEncoder(encoder, WordPiece(words)).save_pretrained(start)
        command = [
            sys.executable, "-m", "kerasbert.cli", "train", "--task", case.task, "--model", start,
            "--train", data / case.train, "--max-rows", rows, "--out", out, "--sequence-length", length,
            "--epochs", EPOCHS, "--learning-rate", LEARNING_RATE, "--warmup", WARMUP, "--seed", 1,
        ]  # fmt: skip
        subprocess.run(list(map(str, command)), check=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=Path, required=True, metavar="FILE", help="WordPiece, a word a line")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--architectures", nargs="+", choices=ARCHITECTURES, default=list(ARCHITECTURES))
    parser.add_argument("--heads", nargs="+", choices=HEADS, default=list(HEADS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
