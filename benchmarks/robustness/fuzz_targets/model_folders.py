"""Readers of the folders that hold a model of kerasbert."""

import functools
import json
import tempfile
from pathlib import Path

from benchmarks.robustness.fuzz_targets.checkpoints import safetensors_files
from benchmarks.robustness.fuzz_targets.samples import BERT, wordpiece
from benchmarks.robustness.fuzz_targets.target import Target


def _described(folder: Path) -> None:
    from kerasbert.cli.outputs.describe_folder import describe_folder

    describe_folder(str(folder))


_OWN_METADATA = {
    "format": 1, "task": "TextClassifier", "encoder": {},
    "settings": {"labels": ["bad", "good"], "sequence_length": 16, "problem": "single_label"},
}  # fmt: skip


def _own_files() -> list[dict[str, bytes]]:
    return [
        {
            "kerasbert.json": json.dumps(_OWN_METADATA).encode(),
            "config.json": json.dumps(BERT).encode(),
            **safetensors_files()[0],
        }
    ]


def _model(folder: Path) -> None:
    import kerasbert

    kerasbert.load_task(folder).predict(["good film"])


@functools.cache
def _models() -> list[dict[str, bytes]]:
    from kerasbert.encoders import BertConfig, BertEncoder
    from kerasbert.tasks import TextClassifier

    encoder = BertEncoder(BertConfig.from_dict(BERT))
    with tempfile.TemporaryDirectory() as folder:
        TextClassifier(encoder, wordpiece(), labels=("bad", "good"), sequence_length=16).save_pretrained(f"{folder}/m")
        return [{path.name: path.read_bytes() for path in Path(folder, "m").iterdir()}]


@functools.cache
def _sentence_encoders() -> list[dict[str, bytes]]:
    from kerasbert.encoders import BertConfig, BertEncoder
    from kerasbert.tasks import SentenceEncoder

    encoder = BertEncoder(BertConfig.from_dict(BERT))
    with tempfile.TemporaryDirectory() as folder:
        SentenceEncoder(encoder, wordpiece(), sequence_length=16).save_pretrained(f"{folder}/m")
        paths = sorted(path for path in Path(folder, "m").rglob("*") if path.is_file())
        whole = {path.relative_to(Path(folder, "m")).as_posix(): path.read_bytes() for path in paths}
    return [whole, {name: data for name, data in whole.items() if name != "kerasbert.json"}]


TARGETS = [
    Target("kerasbert.json", _described, _own_files, ("kerasbert.json", "config.json")),
    Target("model folder", _model, _models, slow=True),
    Target("sentence encoder folder", _model, _sentence_encoders, slow=True),
]
