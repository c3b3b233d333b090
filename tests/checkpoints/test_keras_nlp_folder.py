"""Preset folders of keras-nlp, loaded like other checkpoint folders."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.checkpoints.readers import find_weight_files
from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_from_folder

# Keras 3 causes a NumPy 2 warning when it writes .h5 files.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] a b good bad film ##s".split()
SIZES = {"num_layers": 1, "num_heads": 2, "hidden_dim": 8, "intermediate_dim": 12, "max_sequence_length": 12}


@pytest.fixture(scope="module")
def keras_nlp():
    return pytest.importorskip("keras_nlp")


@pytest.fixture(scope="module")
def preset(keras_nlp, tmp_path_factory):
    folder = tmp_path_factory.mktemp("preset")
    (folder / "words.txt").write_text("\n".join(WORDS))
    backbone = keras_nlp.models.BertBackbone(vocabulary_size=len(WORDS), **SIZES)
    draw = np.random.default_rng(0)
    backbone.set_weights([draw.normal(0.1, 0.3, weight.shape) for weight in backbone.weights])
    backbone.save_to_preset(str(folder / "bert"))
    tokenizer = keras_nlp.models.BertTokenizer(str(folder / "words.txt"), lowercase=True)
    tokenizer.save_to_preset(str(folder / "bert"))
    return folder / "bert", backbone, tokenizer


@pytest.mark.long
def test_preset_folder_loads_as_encoder_task_and_tokenizer(preset, capsys, tmp_path):
    folder, backbone, tokenizer = preset
    ids = np.array([[2, 7, 9, 10, 3, 0]])
    mask = (ids > 0).astype(int)
    expected = backbone({"token_ids": ids, "padding_mask": mask, "segment_ids": np.zeros_like(ids)}, training=False)
    received = kb.load_encoder(folder)({"input_ids": ids, "attention_mask": mask})
    np.testing.assert_allclose(received.pooled.numpy(), np.asarray(expected["pooled_output"]), atol=1e-5, rtol=0)
    task = kb.TextClassifier.from_pretrained(str(folder), labels=["no", "yes"])
    text = "a GOOD films"
    assert task.tokenizer.encode([text], max_length=12).input_ids[0][1:-1] == list(np.asarray(tokenizer(text)))
    assert [path.name for path in find_weight_files(folder)] == ["model.weights.h5"]
    task.save_pretrained(tmp_path / "saved")
    again = kb.load_task(tmp_path / "saved")
    assert again.fingerprint() == task.fingerprint() and again.tokenizer.vocabulary == tuple(WORDS)


def test_byte_level_tokenizer(keras_nlp, tmp_path):
    merges = ["a b", "Ġ ab"]
    vocabulary = {
        token: i for i, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", "a", "b", "ab", "Ġ", "Ġab", "<mask>"])
    }
    original = keras_nlp.models.RobertaTokenizer(vocabulary, merges)
    original.save_to_preset(str(tmp_path))
    tokenizer = tokenizer_from_folder(tmp_path)
    assert tokenizer.encode(["ab ab"], max_length=9).input_ids[0][1:-1] == list(np.asarray(original("ab ab")))


def test_unsupported_tokenizer_is_an_error(keras_nlp, preset, tmp_path):
    import shutil

    shutil.copytree(preset[0], tmp_path / "bert")
    (tmp_path / "bert" / "assets" / "tokenizer" / "vocabulary.txt").rename(tmp_path / "away.txt")
    with pytest.raises(KerasBertError, match="assets/tokenizer: expected vocabulary.txt, .* received none of them"):
        tokenizer_from_folder(tmp_path / "bert")


@pytest.mark.parametrize(
    ("key", "value"),
    [("vocabulary_size", 10**9), ("max_sequence_length", 10**9), ("num_layers", 10**9), ("intermediate_dim", 10**8)],
)
def test_sizes_that_the_weights_file_cannot_hold_are_refused(preset, tmp_path, key, value):
    """Before keras-nlp allocates them: a vocabulary of a billion took 90 seconds and the memory of the machine."""
    import json
    import shutil

    folder = tmp_path / "bert"
    shutil.copytree(preset[0], folder)
    config = json.loads((folder / "config.json").read_text())
    config["config"][key] = value
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        KerasBertError, match=r"config\.json: .* expected at most [\d,]+ parameters, as model\.weights\.h5 has"
    ):
        kb.load_encoder(folder)
