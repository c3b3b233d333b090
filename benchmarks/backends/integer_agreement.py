"""Agreement of integer-only files of small MobileBERTs with the Keras model, on the bundled assistant data.

    python -m benchmarks.backends.integer_agreement

Measured: the share of the 430 test texts that get the same class, and the errors of probabilities, of the file on XNNPACK and on the
reference kernels and of the Edge TPU pair on both, against the Keras model under its policy; and the same of the float model.

Three models train from random weights for some seconds, with NoNorm, ReLU and bottlenecks; the fourth is the zoo's mobilebert-small-en,
fine-tuned. Each is measured after calibration and after
quantization-aware training. Many test texts are unlike the training data, so that their classes are decided narrowly.
"""

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.common import record

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "numpy")
SIZES = {"num_attention_heads": 4, "num_feedforward_networks": 2, "hidden_act": "relu", "max_position_embeddings": 128}
SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "embedding_size": 32,
    "intra_bottleneck_size": 32,
}
LARGE = {
    "hidden_size": 128,
    "num_hidden_layers": 4,
    "intermediate_size": 128,
    "embedding_size": 64,
    "intra_bottleneck_size": 64,
}
MODELS = {
    "two layers": {**SMALL, "initializer_range": 0.04},
    "two layers, large initial weights": {**SMALL, "initializer_range": 0.15},
    "four layers": {**LARGE, "initializer_range": 0.04},
}
ZOO_MODEL = "mobilebert-small-en"
EPOCHS, LEARNING_RATE = 40, 1e-3
ZOO_EPOCHS, ZOO_LEARNING_RATE, ZOO_HEAD_RATE = 10, 3e-4, 3e-3
QUANTIZED_EPOCHS, QUANTIZED_LEARNING_RATE = 4, 3e-4
LENGTH, BATCH, CALIBRATION_ROWS = 32, 32, 512
VOCABULARY = Path(__file__).parents[2] / "zoo" / "small-en" / "vocab.txt"


def main() -> None:
    """Measure all models and write the result."""
    arguments = _arguments()
    load = record.load()
    models = {name: _measure(name) for name in arguments.models}
    record.write(arguments.json, {"length": LENGTH, "models": models}, record.versions(PACKAGES), load)


def _measure(name: str) -> dict:
    import kerasbert as kb
    from kerasbert.data import assistant

    train = assistant.load("train")
    texts, labels = list(train.texts), list(train.intents)
    task = _train(name, texts, labels)
    calibration = texts[:CALIBRATION_ROWS]
    quantized = kb.compression.quantize(task, "static_wi8_ai8", calibration=calibration, integer_only=True)
    results = {"calibrated": _compare(quantized, task)}
    quantized.compile(kb.adamw(QUANTIZED_LEARNING_RATE, warmup=0, decay="constant"))
    quantized.fit(texts, labels, batch_size=BATCH, epochs=QUANTIZED_EPOCHS, seed=1, verbose=0)
    results["trained"] = _compare(quantized, task)
    for kind, sides in results.items():
        for side, facts in sides.items():
            print(name, kind, side, facts, flush=True)
    return results


def _train(name: str, texts: list[str], labels: list[str]) -> "Task":
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.data import assistant
    from kerasbert.encoders import MobileBertConfig, MobileBertEncoder
    from kerasbert.text import WordPiece

    keras.utils.set_random_seed(1)
    if name == ZOO_MODEL:
        task = kb.TextClassifier.from_pretrained(name, labels=assistant.INTENTS, sequence_length=LENGTH)
        epochs = ZOO_EPOCHS
        task.compile(kb.adamw(ZOO_LEARNING_RATE, 0.1, epochs * -(-len(texts) // BATCH), rates={"head": ZOO_HEAD_RATE}))
    else:
        words, epochs = VOCABULARY.read_text("utf-8").splitlines(), EPOCHS
        encoder = MobileBertEncoder(MobileBertConfig(vocab_size=len(words), **SIZES, **MODELS[name]))
        task = kb.TextClassifier(encoder, WordPiece(words), labels=assistant.INTENTS, sequence_length=LENGTH)
        task.compile(kb.adamw(LEARNING_RATE, warmup=0, decay="constant"))
    task.fit(texts, labels, batch_size=BATCH, epochs=epochs, seed=1, verbose=0)
    return task


def _compare(quantized: "Task", task: "Task") -> dict[str, dict[str, float]]:
    import kerasbert as kb
    from kerasbert.data import assistant

    packed = quantized.pack(list(assistant.load("test").texts))
    keras_side = quantized.serve_numpy(packed)["probabilities"]
    results = {"float": _differences(task.serve_numpy(packed)["probabilities"], keras_side)}
    with tempfile.TemporaryDirectory() as folder:
        for name, target in (("cpu", "cpu"), ("edge-tpu pair", "edge-tpu")):
            path = kb.export.convert(quantized, target=target).save(Path(folder) / f"{target}.tflite")
            for kernels in ("xnnpack", "reference"):
                results[f"{name}, {kernels}"] = _differences(_run(path, kernels, packed), keras_side)
    return results


def _run(path: Path, kernels: str, packed: dict[str, np.ndarray]) -> np.ndarray:
    import kerasbert as kb

    model = kb.export.open_model(path, kernels=kernels)
    rows = ({name: values[i : i + 1] for name, values in packed.items()} for i in range(len(packed["input_ids"])))
    return np.concatenate([model.run(row)["probabilities"] for row in rows])


def _differences(one: np.ndarray, other: np.ndarray) -> dict[str, float]:
    errors = np.abs(one - other).max(axis=-1)
    same = int((one.argmax(-1) == other.argmax(-1)).sum())
    return {
        "rows": len(one), "same_class": same, "share": round(same / len(one), 4),
        "mean_error": round(float(errors.mean()), 5), "largest_error": round(float(errors.max()), 4),
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=(*MODELS, ZOO_MODEL), default=[*MODELS, ZOO_MODEL])
    record.add_output(parser, "integer_agreement")
    return parser.parse_args()


if __name__ == "__main__":
    main()
