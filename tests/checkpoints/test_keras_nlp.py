"""Converted keras-nlp backbones: equal outputs, and every weight is used."""

import re
import sys

import numpy as np
import pytest

from kerasbert.checkpoints.hugging_face import write_folder_files
from kerasbert.checkpoints.keras_nlp import from_keras_nlp
from kerasbert.errors import KerasBertError

SIZES = {"num_layers": 4, "num_heads": 2, "hidden_dim": 16, "intermediate_dim": 24, "max_sequence_length": 12}
ARGUMENTS = {
    "bert": {"vocabulary_size": 20},
    "albert": {"vocabulary_size": 20, "embedding_dim": 6, "num_groups": 2, "num_inner_repetitions": 2},
    "distilbert": {"vocabulary_size": 20},
    "electra": {"vocab_size": 20, "embedding_dim": 6},
    "roberta": {"vocabulary_size": 20},
}
CLASSES = {"bert": "Bert", "albert": "Albert", "distilbert": "DistilBert", "electra": "Electra", "roberta": "Roberta"}


@pytest.fixture(scope="module")
def backbones():
    """Backbones by model type; biases, norm scales and shifts differ from their initial values."""
    import keras_nlp

    backbones, draw = {}, np.random.default_rng(0)
    for model_type, family in CLASSES.items():
        backbone = getattr(keras_nlp.models, f"{family}Backbone")(**SIZES, **ARGUMENTS[model_type])
        backbone.set_weights([draw.normal(0.1, 0.3, w.shape) for w in backbone.weights])
        backbones[model_type] = backbone
    return backbones


def outputs(backbone, ids, mask, types):
    inputs = {"token_ids": ids, "padding_mask": mask, "segment_ids": types}
    input_names = {tensor.name for tensor in backbone.inputs}
    result = backbone({name: value for name, value in inputs.items() if name in input_names}, training=False)
    return result if isinstance(result, dict) else {"sequence_output": result}


@pytest.mark.long_cases("albert", "roberta")
@pytest.mark.parametrize("model_type", CLASSES)
def test_encoder_outputs_match_keras_nlp(tmp_path, backbones, model_type):
    import kerasbert as kb

    config, tensors = from_keras_nlp(backbones[model_type])
    assert config["model_type"] == model_type
    write_folder_files(tmp_path, config, tensors)
    encoder = kb.load_encoder(tmp_path)
    draw, real = np.random.default_rng(1), np.arange(9) < np.array([[9], [5], [1]])
    # Id 1 is RoBERTa's padding.
    ids = np.where(real, draw.integers(2, 20, (3, 9)), config["pad_token_id"])
    types = np.zeros_like(ids) if model_type == "roberta" else draw.integers(0, 2, (3, 9))
    expected = outputs(backbones[model_type], ids, real.astype(int), types)
    if model_type == "distilbert":
        types = None
    inputs = {"input_ids": ids, "attention_mask": real.astype("int32"), "token_type_ids": types}
    received = encoder({name: value for name, value in inputs.items() if value is not None})
    direct = kb.load_encoder(backbones[model_type])(
        {name: value for name, value in inputs.items() if value is not None}
    )
    np.testing.assert_array_equal(direct.sequence, received.sequence)
    sequence = np.asarray(expected["sequence_output"])
    assert sequence[real].std() > 0.1
    np.testing.assert_allclose(received.sequence.numpy()[real], sequence[real], atol=1e-5, rtol=0)
    if model_type in ("bert", "albert"):
        np.testing.assert_allclose(received.pooled.numpy(), np.asarray(expected["pooled_output"]), atol=1e-5, rtol=0)
    ignored = {"electra": ["electra.pooled_dense.bias", "electra.pooled_dense.weight"]}
    assert sorted(name for name, _ in encoder.load_report.ignored) == ignored.get(model_type, [])
    assert encoder.load_report.unused == ()
    assert len(encoder.load_report.loaded) + len(encoder.load_report.ignored) == len(tensors)


def test_every_weight_is_used_once(backbones):
    for model_type, backbone in backbones.items():
        _, tensors = from_keras_nlp(backbone)
        added = 1 if model_type == "roberta" else 0  # the token types, which keras-nlp does not have
        assert len(tensors) == len(backbone.weights) + added
        assert {tensor.dtype for tensor in tensors.values()} == {np.dtype(np.float32)}


def test_config_follows_the_layers(backbones):
    settings = {name: from_keras_nlp(backbone)[0] for name, backbone in backbones.items()}
    assert [settings[name]["hidden_act"] for name in ("bert", "albert", "electra")] == ["gelu_new"] * 3
    assert settings["roberta"]["hidden_act"] == settings["distilbert"]["activation"] == "gelu"
    assert settings["roberta"]["layer_norm_eps"] == 1e-5 and settings["bert"]["layer_norm_eps"] == 1e-12
    assert settings["roberta"]["max_position_embeddings"] == 14
    assert settings["albert"]["num_hidden_groups"] == 2 and settings["albert"]["inner_group_num"] == 2


# Keras converts its variables without NumPy 2's `copy` keyword when it saves them.
@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning")
def test_preset_folder(tmp_path, backbones):
    backbones["bert"].save_to_preset(str(tmp_path / "preset"))
    config, tensors = from_keras_nlp(tmp_path / "preset")
    original, expected = from_keras_nlp(backbones["bert"])
    assert config == original and tensors.keys() == expected.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(tensor, expected[name])


def complaint(*arguments):
    with pytest.raises(KerasBertError) as caught:
        from_keras_nlp(*arguments)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    return str(caught.value)


def test_unsupported_inputs_are_errors(tmp_path):
    assert "BertBackbone, AlbertBackbone" in complaint(5)
    assert "received BertBackbone" in complaint(type("BertBackbone", (), {})())
    assert "expected a preset that can be loaded" in complaint(tmp_path / "missing")


def test_preset_without_a_network(monkeypatch):
    import keras_nlp

    def unreachable(name):
        raise ConnectionError(f"no route\nfor {name}")

    monkeypatch.setattr(keras_nlp.models.Backbone, "from_preset", unreachable)
    assert re.search(
        "'bert_tiny_en_uncased'.*ConnectionError: no route for.*network", complaint("bert_tiny_en_uncased")
    )


def test_without_keras_nlp(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_nlp", None)
    assert "pip install 'kerasbert[presets]'" in complaint("bert_tiny_en_uncased")


def test_unknown_weight_is_an_error(backbones):
    class Grown:
        """A backbone with low-rank adapters, which add weights."""

        weights = [*backbones["bert"].weights, type("Weight", (), {"path": "transformer_layer_0/lora_kernel_a"})()]

    kind = type("BertBackbone", (Grown,), {"__module__": "keras_hub.models"})
    assert "lora_kernel_a" in complaint(kind())
