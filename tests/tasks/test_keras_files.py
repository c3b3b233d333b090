"""`.keras` files of earlier versions: Keras finds variables by the attributes and classes on the way to them."""

import io
import json
import zipfile
from pathlib import Path

import h5py
import pytest

from kerasbert import tasks
from kerasbert.compression.quantization.policies import INTEGER_ONLY, POLICIES
from kerasbert.encoders import BertConfig, BertEncoder, MobileBertConfig, MobileBertEncoder

PATHS = json.loads((Path(__file__).parents[1] / "golden" / "keras_file_paths.json").read_text("utf-8"))
STATIC, INTEGER = POLICIES["static_wi8_ai8"], INTEGER_ONLY
SIZES = {
    "vocab_size": 9,
    "hidden_size": 4,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "intermediate_size": 4,
    "max_position_embeddings": 8,
}
MOBILE = {"embedding_size": 4, "intra_bottleneck_size": 4, "num_feedforward_networks": 2}
ENCODERS = {
    "bert": lambda: BertEncoder(BertConfig(**SIZES), INTEGER),
    "mobilebert": lambda: MobileBertEncoder(MobileBertConfig(**SIZES, **MOBILE), STATIC),
}
HEADS = {  # beside the encoder's
    "TokenTagger": {"token_classifier", "token_classifier_input"},
    "QuestionAnswerer": {"qa_outputs", "qa_outputs_input"},
    "NextSentencePredictor": {"next_sentence", "next_sentence_input"},
}


def paths(model, file: Path) -> set[str]:
    """The groups of a saved file that hold variables."""
    model.save(file)
    found: list[str] = []
    with zipfile.ZipFile(file) as archive, h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as weights:
        weights.visititems(lambda path, item: found.append(path) if isinstance(item, h5py.Dataset) else None)
    return {path.rpartition("/vars/")[0] for path in found}


def made(task: str, encoder):
    labels = {"labels": ["a", "b"]} if tasks.TASKS[task].labelled else {}
    return tasks.TASKS[task](encoder, None, sequence_length=8, **labels)


@pytest.mark.parametrize("name", ENCODERS)
def test_variables_have_the_paths_of_earlier_files(tmp_path, name):
    assert sorted(paths(made("TextClassifier", ENCODERS[name]()), tmp_path / "model.keras")) == PATHS[name]


@pytest.mark.parametrize("task", HEADS)
@pytest.mark.long_cases
def test_heads_have_the_paths_of_earlier_files(tmp_path, task):
    found = paths(made(task, BertEncoder(BertConfig(**SIZES), INTEGER)), tmp_path / "model.keras")
    assert {path for path in found if "bert_encoder" not in path and "output_quantizer" not in path} == HEADS[task]
