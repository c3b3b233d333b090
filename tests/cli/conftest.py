"""A tiny checkpoint, tiny data and one trained, quantized and converted model, made once with the commands."""

import random
from types import SimpleNamespace

import pytest

from kerasbert.cli import main

WORDS = "good great fun bad awful boring film plot a the is so".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]


def write_table(path, rows: int, seed: int = 1):
    draw = random.Random(seed)
    lines = ["text\tlabel"]
    for _ in range(rows):
        good = draw.random() < 0.5
        words = draw.choices(WORDS[6:], k=draw.randint(1, 6)) + [draw.choice(WORDS[:3] if good else WORDS[3:6])]
        lines.append(f"{' '.join(words)}\t{'pos' if good else 'neg'}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """`folder` with everything in it, `checkpoint` without a head, and the tables `train` and `dev`."""
    import tf_keras as keras

    from kerasbert.encoders.bert import BertConfig, BertEncoder
    from kerasbert.tasks import SentenceEncoder
    from kerasbert.text import WordPiece

    folder = tmp_path_factory.mktemp("cli")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    keras.utils.set_random_seed(0)
    config = BertConfig(vocab_size=len(VOCABULARY), max_position_embeddings=64, **sizes)
    SentenceEncoder(BertEncoder(config), WordPiece(VOCABULARY), sequence_length=16).save_pretrained(folder / "encoder")
    checkpoint = folder / "checkpoint"
    (folder / "encoder").rename(checkpoint)
    (checkpoint / "kerasbert.json").unlink()  # as a foreign checkpoint has none
    train, dev = write_table(folder / "train.tsv", 256), write_table(folder / "dev.tsv", 64, seed=2)
    return SimpleNamespace(folder=folder, checkpoint=str(checkpoint), train=str(train), dev=str(dev))


@pytest.fixture(scope="session")
def made(place):
    """The folders `float` and `int8`, and `file`, a .tflite file."""
    float_folder, int8_folder, file = (str(place.folder / name) for name in ("float", "int8", "model.tflite"))
    data = ["--train", place.train, "--dev", place.dev]
    learn = ["--epochs", "3", "--learning-rate", "1e-2", "--batch-size", "16"]
    assert (
        main(["train", "--task", "classification", "--model", place.checkpoint, *data, *learn, "--out", float_folder])
        == 0
    )
    assert (
        main(["quantize", float_folder, "--recipe", "static_wi8_ai8", *data, "--max-rows", "96", "--out", int8_folder])
        == 0
    )
    assert main(["convert", int8_folder, "--recipe", "static_wi8_ai8", "--target", "cpu", "-o", file]) == 0
    return SimpleNamespace(float=float_folder, int8=int8_folder, file=file)


@pytest.fixture
def run(capsys):
    """Run a command line in this process, and return its exit code, stdout and stderr."""

    def run_command(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return SimpleNamespace(code=code, **dict(zip(("out", "err"), capsys.readouterr(), strict=True)))

    return run_command
