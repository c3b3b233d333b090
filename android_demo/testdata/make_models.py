r"""Writes the tiny models of the tests: `models/*.tflite`, and `models/predictions.json` with what Python predicts by them.

`refused/newer.tflite` is one of them with operators in versions that no runtime has yet.

    python android_demo/testdata/make_models.py
    python android_demo/testdata/make_models.py exits exits_tags    # these only

Weights are random and vocabularies have 45 tokens. A file takes about 30 KB.
"""

import json
import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tf_keras as keras
from ai_edge_litert import schema_py_generated as schema

import kerasbert as kb
from kerasbert.cli.outputs.predictions import prediction_records
from kerasbert.cli.outputs.results import to_jsonable
from kerasbert.encoders import BertConfig, BertEncoder
from kerasbert.export import TFLiteFile
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite.metadata import append
from kerasbert.processors.few_shot import FewShot, Linear
from kerasbert.text import WordPiece

FOLDER = Path(__file__).parent / "models"
REFUSED = Path(__file__).parent / "refused"
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORDS = (
    "the a film book song was is and it very so of in we saw where who good fine great bad poor dull river bank street "
    "\U0001f600 caf\u00e9 \u6771 \u4eac ##s ##ly ##er . , ? ! 1 2 -"
).split()
VOCABULARY = (*_SPECIAL, *_WORDS)
_SIZES = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 32,
    "initializer_range": 0.5,
}
_LONG = (
    "the film was good and it was very fine , so we saw the \U0001f600 book of the river bank in a great street . " * 2
)
_TEXTS = (
    "the film was good",
    "\U0001f600\U0001f600 a dull book , \U0001f600 was it ?",
    "\u6771\u4eac is great !",
    "unknown words and a bank-street",
    _LONG,
)
_QUESTIONS = (("where is it ?", "the film is in the \U0001f600 street"), ("who saw the book ?", _LONG), ("who ?", ""))
# The file's name -> the task's class, its settings, the settings of the conversion, and the examples.
_CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], Any]] = {
    "label": (
        "TextClassifier",
        {"labels": ("negative", "positive", "neither")},
        {"length": [8, 16]},
        [*((text, "we saw it") for text in _TEXTS)],
    ),
    "tags": ("TokenTagger", {"labels": ("O", "B-X", "I-X", "B-Y", "I-Y")}, {"length": 16}, list(_TEXTS)),
    "answer": ("QuestionAnswerer", {"no_answer": True, "longest_answer": 6, "n_best": 4}, {"length": 24}, list(_QUESTIONS)),
    "choice": ("MultipleChoice", {}, {"length": 16}, [(text, ["good", "a bad film", _LONG]) for text in _TEXTS]),
    "mask": ("MaskedLM", {"top": 3}, {"length": 16}, [f"[MASK] {text} [MASK]" for text in _TEXTS]),
    "vector": ("SentenceEncoder", {}, {"length": "resizable"}, list(_TEXTS)),
    "prompted": (
        "SentenceEncoder",
        {"prompts": {"query": "where is ", "passage": "we saw the "}, "default_prompt_name": "query"},
        {"length": 16},
        list(_TEXTS),
    ),
    "exits": (
        "TextClassifier",
        {"labels": ("negative", "positive", "neither"), "exits": [1, 2]},
        {"length": [8, 16]},
        [*_TEXTS, *_WORDS[:12]],
    ),
    "exits_tags": ("TokenTagger", {"labels": ("O", "B-X", "I-X", "B-Y", "I-Y"), "exits": [1, 2]}, {"length": 16}, list(_TEXTS)),
    "taught": (
        "SentenceEncoder",
        {"prompts": {"query": "where is "}, "default_prompt_name": "query"},
        {"length": 16, "labels": ("alarm", "music", "weather")},
        [*_TEXTS, *_WORDS[:8]],
    ),
    "score": (
        "TextClassifier",
        {"problem": "regression", "paired": True},
        {"length": "resizable"},
        [*((text, "we saw it") for text in _TEXTS)],
    ),
}  # fmt: skip


def main() -> None:
    """Write the files, and keep those that were not named."""
    names = sys.argv[1:] or list(_CASES)
    if unknown := set(names) - set(_CASES):
        sys.exit(f"expected names among {', '.join(_CASES)}, received {', '.join(sorted(unknown))}; name others")
    FOLDER.mkdir(exist_ok=True)
    records = FOLDER / "predictions.json"
    predictions = json.loads(records.read_text("utf-8")) if records.is_file() else {}
    for seed, (name, case) in enumerate(_CASES.items()):
        if name not in names:
            continue
        path = FOLDER / f"{name}.tflite"
        predictions[path.name] = _write(path, seed, *case)
        path.with_name(f"{path.name}.json").unlink()  # the file beside it says the same as the packed metadata
    lines = json.dumps(predictions, indent=1, ensure_ascii=False)
    records.write_text(f"{lines}\n", "utf-8")
    if "label" not in names:
        return
    REFUSED.mkdir(exist_ok=True)
    (REFUSED / "newer.tflite").write_bytes(_newer((FOLDER / "label.tflite").read_bytes()))


def _newer(content: bytes) -> bytes:
    """Return a file with its operators in version 99."""
    changed, model = bytearray(content), schema.Model.GetRootAs(content, 0)
    for number in range(model.OperatorCodesLength()):
        table = model.OperatorCodes(number)._tab
        if slot := table.Offset(8):  # of the field `version`; where it is left out, it is 1
            struct.pack_into("<i", changed, table.Pos + slot, 99)
    return bytes(changed)


def _write(path: Path, seed: int, task_class: str, settings: dict, options: dict, examples: Any) -> list[dict]:
    """Convert a task with random weights, and return the records of its predictions."""
    keras.utils.set_random_seed(seed)
    layers = {"num_hidden_layers": 3} if "exits" in settings else {}
    encoder = BertEncoder(BertConfig(**{**_SIZES, **layers}))
    length = options["length"]
    longest = 16 if length == "resizable" else max(length) if isinstance(length, list) else length
    task = getattr(kb, task_class)(encoder, WordPiece(VOCABULARY), sequence_length=longest, **settings)
    if "exits" in settings:
        task.exit_threshold = _threshold(task, examples)
    labels = options.pop("labels", None)
    file = kb.export.convert(task, recipe="float32", **options)
    (_taught(file, labels, examples) if labels else file).save(path)
    predictor = open_pipeline(path)
    rows = predictor.processor.examples(examples)
    return to_jsonable(prediction_records(predictor.processor, rows, predictor.predictions(examples)))


def _taught(file: TFLiteFile, labels: tuple[str, ...], examples: list[str]) -> TFLiteFile:
    """Return a sentence encoder's file with a random layer, as `kerasbert teach` writes it: a quarter of the examples get the fallback."""
    metadata = file.require_metadata("to teach it")
    encoder, width = metadata.processor, metadata.processor.width
    random = np.random.default_rng(0)
    vectors = open_pipeline(file.save(FOLDER / "taught.tflite"))(examples)  # of length 1
    kernel = random.normal(0, 4, (len(labels), width)).astype(np.float32)
    layer = Linear(kernel, -kernel @ vectors.mean(axis=0))  # each label is the likeliest for some of the examples
    best = np.sort(layer.probabilities(vectors).max(axis=1).astype(float))
    place = len(best) // 4
    processor = FewShot(
        labels=labels, width=width, layer=layer.to_text(), method="logistic", prompt=encoder.prefix, fallback="oos",
        fallback_below=float(best[place - 1] + best[place]) / 2,
    )  # fmt: skip
    metadata = replace(metadata, task="FewShotClassifier", processor=processor, weights="")
    return TFLiteFile(append(file.content, metadata), metadata)


def _threshold(task: Any, examples: Any) -> float:
    """Return a threshold between two rows' confidences at the second exit, so that rows end at different exits."""
    values = np.sort(task.serve_exits(task.pack(examples))[1]["confidence"].numpy().astype(float))
    return float(values[len(values) // 2 - 1] + values[len(values) // 2]) / 2


if __name__ == "__main__":
    main()
