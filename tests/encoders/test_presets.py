from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders import PRESETS, encoder_class, preset
from kerasbert.errors import KerasBertError

# Encoder and pooler, as published or counted from the published checkpoints.
PARAMETERS = {
    "bert-tiny": 4_385_920,
    "bert-mini": 11_170_560,
    "bert-small": 28_763_648,
    "bert-medium": 41_373_184,
    "bert-base": 109_482_240,
    "bert-large": 335_141_888,
    "albert-base": 11_683_584,
    "albert-large": 17_683_968,
    "albert-xlarge": 58_724_864,
    "albert-xxlarge": 222_595_584,
    "mobilebert": 24_581_888,
    "distilbert": 66_362_880,
    "tinybert-4": 14_350_248,
    "tinybert-6": 66_955_008,
    "minilm-l6": 22_713_216,
    "minilm-l12": 33_360_000,
    "electra-small": 13_483_008,
    "electra-base": 108_891_648,
    "roberta-base": 124_645_632,
}
WORDS = 8
POOLED = ("bert", "albert", "mobilebert", "roberta")


@pytest.fixture(autouse=True)
def zeros(monkeypatch):
    """Weights of zeros: a hundred million random numbers would take seconds, and only their number counts here."""

    def make(self, shape, dtype=None, **_):
        return tf.zeros(shape, dtype or tf.float32)

    monkeypatch.setattr(keras.initializers.TruncatedNormal, "__call__", make)


def parameters(name: str) -> int:
    """Counted with one layer and with two: the others are as large."""
    config = preset(name)
    one = _count(replace(config, num_hidden_layers=1))
    further = 0 if config.model_type == "albert" else _count(replace(config, num_hidden_layers=2)) - one
    return one + (config.num_hidden_layers - 1) * further


def _count(config) -> int:
    """With a table of few words, which takes no time to fill."""
    encoder = encoder_class(config.model_type)(replace(config, vocab_size=WORDS), pooler=config.model_type in POOLED)
    encoder({"input_ids": np.zeros((1, 4), np.int32)})
    built = sum(variable.shape.num_elements() for variable in encoder.variables_by_path().values())
    words, width = encoder.embeddings.word.table.shape
    return built + (config.vocab_size - words) * width


@pytest.mark.long_cases("base", "mobilebert", "minilm")
@pytest.mark.parametrize("name", PARAMETERS)
def test_presets_have_the_published_number_of_parameters(name):
    assert parameters(name) == PARAMETERS[name]


def test_smaller_mobileberts():
    # Sun et al. 2020, table 4, give 15.1 M and, for the larger one, 25.3 M; LayerNorm has as many parameters as NoNorm.
    assert 15.0e6 < parameters("mobilebert-tiny") < 15.6e6
    assert parameters("mobilebert-without-opt") == PARAMETERS["mobilebert"]
    assert set(PRESETS) == {*PARAMETERS, "mobilebert-tiny", "mobilebert-without-opt"}


def test_an_unknown_preset_is_refused():
    assert preset("albert-base-v2") is preset("albert-base")
    with pytest.raises(KerasBertError, match="bert-tiny.*received 'bert-huge'"):
        preset("bert-huge")
