"""Tiny `.tflite` files: a one-layer BERT-like graph (gather, attention, dense, softmax) with 30 words and width 16."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kerasbert.export.tflite.metadata import Metadata
from kerasbert.processors.classification import SingleLabel

LENGTH, WORDS, WIDTH, CLASSES = 8, 30, 16, 3
PARAMETERS = WORDS * WIDTH + WIDTH * 4 * WIDTH + 4 * WIDTH + 4 * WIDTH * CLASSES + CLASSES


def _convert(length: int | None, quantize: bool = False, float16: bool = False, output: str = "probabilities") -> bytes:
    import tensorflow as tf

    class Tiny(tf.Module):
        def __init__(self):
            draw = np.random.default_rng(3)
            self.table = tf.Variable(draw.normal(size=(WORDS, WIDTH)).astype(np.float32))
            self.kernel = tf.Variable(0.3 * draw.normal(size=(WIDTH, 4 * WIDTH)).astype(np.float32))
            self.bias = tf.Variable(draw.normal(size=4 * WIDTH).astype(np.float32))
            self.head = tf.Variable(0.3 * draw.normal(size=(4 * WIDTH, CLASSES)).astype(np.float32))
            self.head_bias = tf.Variable(draw.normal(size=CLASSES).astype(np.float32))

        def serve(self, input_ids, attention_mask, token_type_ids):
            mask = tf.cast(attention_mask, tf.float32)[:, :, None]  # (1, S, 1)
            x = tf.gather(self.table, input_ids) + 0.1 * tf.cast(token_type_ids, tf.float32)[:, :, None]  # (1, S, H)
            # An addition: TensorFlow 2.21's converter turns `scores - 30 * (1 - mask)` into a sum.
            scores = tf.matmul(x, x, transpose_b=True) + 30.0 * (tf.transpose(mask, (0, 2, 1)) - 1.0)  # (1, S, S)
            x = tf.reduce_sum(tf.matmul(tf.nn.softmax(scores), x) * mask, 1) / tf.reduce_sum(mask, 1)  # (1, H)
            x = tf.nn.gelu(tf.matmul(x, self.kernel) + self.bias, approximate=True)
            if output == "embedding":
                return {output: x}
            return {output: tf.nn.softmax(tf.matmul(x, self.head) + self.head_bias)}

    model = Tiny()
    specs = [tf.TensorSpec((1, length), tf.int32, name=n) for n in ("input_ids", "attention_mask", "token_type_ids")]
    function = tf.function(model.serve, input_signature=specs)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(model, folder, signatures={"serve": function})
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=["serve"])
        if quantize or float16:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if float16:
            converter.target_spec.supported_types = [tf.float16]
        return converter.convert()


def _saved(tmp_path_factory, name: str, **options) -> Path:
    path = tmp_path_factory.mktemp("tflite") / f"{name}.tflite"
    path.write_bytes(_convert(**options))
    return path


@pytest.fixture(scope="session")
def float_file(tmp_path_factory) -> Path:
    return _saved(tmp_path_factory, "float", length=LENGTH)


@pytest.fixture(scope="session")
def int8_file(tmp_path_factory) -> Path:
    return _saved(tmp_path_factory, "int8", length=LENGTH, quantize=True)


@pytest.fixture(scope="session")
def half_file(tmp_path_factory) -> Path:
    return _saved(tmp_path_factory, "half", length=LENGTH, float16=True)


@pytest.fixture(scope="session")
def resizable_file(tmp_path_factory) -> Path:
    return _saved(tmp_path_factory, "resizable", length=None)


@pytest.fixture(scope="session")
def embedding_file(tmp_path_factory) -> Path:
    return _saved(tmp_path_factory, "embedding", length=LENGTH, output="embedding")


def packed_rows(rows: int, length: int = LENGTH, seed: int = 0) -> dict[str, np.ndarray]:
    """Real-looking rows: 3 or more tokens, then padding."""
    draw = np.random.default_rng(seed)
    mask = (np.arange(length) < draw.integers(3, length + 1, (rows, 1))).astype(np.int32)
    return {
        "input_ids": draw.integers(1, WORDS, (rows, length)).astype(np.int32) * mask,
        "attention_mask": mask,
        "token_type_ids": np.zeros((rows, length), np.int32),
    }


def run_rows(path: Path, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    from kerasbert.export.runtime.interpreters import open_model

    model = open_model(path, kernels="builtin", length=rows["input_ids"].shape[1])
    results = [
        model.run({name: values[i : i + 1] for name, values in rows.items()}) for i in range(len(rows["input_ids"]))
    ]
    return {name: np.concatenate([result[name] for result in results]) for name in results[0]}


class StubTask:
    """The part of a Keras task that `validate` needs: a tokenizer and a processor, with outputs from a `.tflite` file."""

    vocabulary = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"word{i}" for i in range(1, WORDS - 4)))
    kind, labels, sequence_length = "single_label", ("a", "b", "c"), LENGTH

    def __init__(self, path: Path, **overrides):
        from kerasbert.processors import make_processor
        from kerasbert.text import WordPiece

        self.path = path
        vars(self).update(overrides)
        self.tokenizer = overrides.get("tokenizer") or WordPiece(self.vocabulary)
        self.processor = overrides.get("processor") or make_processor(self.kind, self.labels)

    def pack(self, texts, length=None):
        from kerasbert.text import pack

        return pack(self.tokenizer.encode(texts, max_length=length), length=length, pad_id=0)

    def serve_numpy(self, rows):
        return run_rows(self.path, rows)


def texts(rows: int) -> list[str]:
    """Texts of 1 to 6 words."""
    draw = np.random.default_rng(0)
    return [" ".join(f"word{i}" for i in draw.integers(1, WORDS - 4, draw.integers(1, 7))) for _ in range(rows)]


@pytest.fixture(scope="session")
def helpers():
    """Functions for test modules, which cannot import a conftest."""
    return SimpleNamespace(
        packed_rows=packed_rows, run_rows=run_rows, texts=texts, StubTask=StubTask, LENGTH=LENGTH, PARAMETERS=PARAMETERS
    )


@pytest.fixture
def card() -> Metadata:
    return Metadata(
        task="TextClassifier",
        processor=SingleLabel(StubTask.labels),
        sequence_length=LENGTH,
        recipe="float32",
        target="cpu",
        parameters=PARAMETERS,
        tokenizer={"lowercase": True},
        kerasbert="0.1.0",
        vocabulary=StubTask.vocabulary,
    )
