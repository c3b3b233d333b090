"""Digests of converted `.tflite` files of small models, to compare before and after a change of the code.

    python -m benchmarks.code.converted_files --json before.json
    python -m benchmarks.code.converted_files --against before.json
    python -m benchmarks.code.converted_files --against before.json --model all-MiniLM-L6-v2

Measured: SHA-256 digests of the FlatBuffer and of the metadata without its version. Exits with 1 if a file differs.

Twelve tiny models have random weights from a fixed seed: three architectures with three heads each, a sentence encoder, a masked language
model and a DistilBERT. Some run steps of quantization-aware training. Each is converted by every recipe for every target, with one length,
several, and a resizable one. `--model` adds a folder with a real encoder. Digests depend on the hardware: run both sides on one machine.
"""

import argparse
import contextlib
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-quantizer", "ai-edge-litert", "numpy")
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghijklmnopqrstuvwxyz",
    *(f"##{c}" for c in "abcdefghijklmnop"),
]
SIZES = {
    "vocab_size": len(WORDS), "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
    "max_position_embeddings": 32, "initializer_range": 0.15,
}  # fmt: skip
NARROW = {
    "mobilebert": {"embedding_size": 32, "intra_bottleneck_size": 32, "hidden_act": "relu"},
    "albert": {"embedding_size": 32},
}
LENGTH, LENGTHS = 16, [8, 16]
FLOAT, INTEGER = ("float32", "float16"), ("dynamic_wi8_afp32", "dynamic_wi4_afp32", "weight_only_wi8")
STATIC = ("static_wi8_ai8", "static_wi8_ai16")


def main() -> None:
    """Convert all models, compare and write the result."""
    arguments = _arguments()
    load, digests = record.load(), {}
    models = {
        name: build for name, build in _models(arguments.model).items() if not arguments.only or name in arguments.only
    }
    for name, build in models.items():
        for kind, model, settings in _conversions(build):
            digests[f"{name} {kind}"] = _digests(model, settings)
        print(name, len(digests), flush=True)
    before = json.loads(arguments.against.read_text("utf-8"))["digests"] if arguments.against else {}
    differing = [key for key in before if key in digests and before[key] != digests[key]]
    missing = [key for key in before if key not in digests and key.startswith(tuple(models))]
    result = {
        "digests": digests,
        "compared": len(before.keys() & digests.keys()),
        "differing": differing,
        "missing": missing,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)
    print(f"compared {result['compared']}, differing {len(differing)}, missing {len(missing)}")
    for key in differing + missing:
        print(" ", key)
    raise SystemExit(bool(differing or missing))


def _models(folder: Path | None) -> dict:
    """Functions that build a task, by name."""
    import kerasbert as kb

    heads = {
        "classifier": (kb.TextClassifier, {"labels": ["a", "b", "c"]}),
        "tagger": (kb.TokenTagger, {"labels": ["O", "B-X", "I-X"]}),
        "answerer": (kb.QuestionAnswerer, {}),
    }
    models = {
        f"{architecture} {head}": _builder(task, architecture, head == "classifier", **settings)
        for architecture in ("bert", "albert", "mobilebert")
        for head, (task, settings) in heads.items()
    }
    models["bert encoder"] = _builder(kb.SentenceEncoder, "bert", False)
    models["bert masked_lm"] = _builder(kb.MaskedLM, "bert", False)
    models["distilbert classifier"] = _builder(kb.TextClassifier, "distilbert", True, labels=["a", "b"])
    if folder is not None:
        models[f"model {folder.name}"] = lambda: _loaded(folder)
    return models


def _loaded(folder: Path) -> Any:
    import tf_keras as keras

    import kerasbert as kb

    keras.backend.clear_session()
    return kb.SentenceEncoder.from_pretrained(folder, sequence_length=LENGTH)


def _builder(task_class: Any, architecture: str, pooler: bool, **settings: Any) -> Callable[[], Any]:
    def build() -> Any:
        import tf_keras as keras

        from kerasbert.encoders import encoder_class
        from kerasbert.text import WordPiece

        keras.backend.clear_session()  # restarts the numbers of layers, which are part of tensor names
        keras.utils.set_random_seed(1)
        encoder = encoder_class(architecture)
        config = encoder.config_class(**{**SIZES, **NARROW.get(architecture, {})})
        task = task_class(encoder(config, pooler=pooler), WordPiece(WORDS), sequence_length=LENGTH, **settings)
        if task_class.__name__ == "TokenTagger":
            task.examples = [text.split() for text in _texts()]
        elif task_class.__name__ == "QuestionAnswerer":
            task.examples = [(text[:9], text) for text in _texts()]
        return task

    return build


def _texts() -> list[str]:
    draw = np.random.default_rng(3)
    return ["".join(draw.choice(list("abcdefghijklm  "), 24)).strip() + " a b" for _ in range(24)]


def _conversions(build: Callable[[], Any]) -> Iterator[tuple[str, Any, dict]]:
    """Yield name, task and arguments of `convert` for every file of a model."""
    import kerasbert as kb

    task = build()
    texts = getattr(task, "examples", _texts())
    for recipe in FLOAT + INTEGER:
        yield recipe, task, {"recipe": recipe}
    yield "lengths", task, {"recipe": "dynamic_wi8_afp32", "length": LENGTHS}
    yield "resizable", task, {"recipe": "dynamic_wi8_afp32", "length": "resizable"}
    yield "old runtime", task, {"recipe": "dynamic_wi8_afp32", "min_runtime": "2.14"}
    for recipe in ("float16", "float32", "dynamic_wi8_afp32"):
        yield f"gpu {recipe}", task, {"recipe": recipe, "target": "gpu"}
        yield f"gpu {recipe} split-k", task, {"recipe": recipe, "target": "gpu", "split_k": True}
    for recipe in STATIC:
        quantized = kb.compression.quantize(build(), recipe, calibration=texts)
        yield recipe, quantized, {"recipe": recipe}
    yield "static lengths", kb.compression.quantize(build(), STATIC[0], calibration=texts), {"length": LENGTHS}
    with contextlib.suppress(kb.KerasBertError):  # of heads that stay in float
        quantized = kb.compression.quantize(build(), STATIC[0], calibration=texts, integer_only=True)
        yield "integer-only", quantized, {}
        yield "edge-tpu", quantized, {"target": "edge-tpu"}
    if isinstance(task, kb.TextClassifier):
        for name, options in (("trained", {}), ("trained integer-only", {"integer_only": True})):
            trained = kb.compression.quantize(build(), STATIC[0], calibration=texts, **options)
            trained.compile(kb.adamw(1e-3, warmup=0, decay="constant"))
            labels = [task.labels[number % len(task.labels)] for number in range(len(texts))]
            trained.fit(texts, labels, batch_size=8, epochs=2, seed=1, verbose=0)
            yield name, trained, {}


def _digests(task: Any, settings: dict) -> list[str]:
    """Compute digests of FlatBuffer and metadata for a file and its host model, or `refused`."""
    import kerasbert as kb

    try:
        model = kb.export.convert(task, **settings)
    except kb.KerasBertError:
        return ["refused"]
    digests = []
    for content in filter(None, (model.content, model.host)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            start = min(entry.header_offset for entry in archive.infolist())
            packed = {entry: archive.read(entry).decode() for entry in archive.namelist()}
        for name, text in packed.items():
            if name.endswith(".json"):
                packed[name] = {k: v for k, v in json.loads(text).items() if k not in ("kerasbert", "generator")}
        metadata = json.dumps(packed, sort_keys=True).encode()
        digests += [hashlib.sha256(part).hexdigest()[:24] for part in (content[:start], metadata)]
    return digests


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="another encoder to convert")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these models, such as 'bert classifier'")
    parser.add_argument("--against", type=Path, metavar="FILE", help="an earlier result to compare with")
    record.add_output(parser, "converted_files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
