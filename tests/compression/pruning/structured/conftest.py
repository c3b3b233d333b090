"""Tiny models of every architecture, with weights away from their first values."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.encoders import (
    AlbertConfig,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    MobileBertConfig,
    RobertaConfig,
    encoder_class,
)
from kerasbert.tasks import TextClassifier

ARCHITECTURES = {
    "bert": BertConfig,
    "albert": partial(AlbertConfig, embedding_size=4),
    "mobilebert": partial(MobileBertConfig, embedding_size=4, intra_bottleneck_size=8, num_feedforward_networks=2),
    "distilbert": DistilBertConfig,
    "electra": partial(ElectraConfig, embedding_size=4),
    "roberta": RobertaConfig,
}
SIZES = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}


def classifier(tiny, name="bert", task=TextClassifier, moves=True, tokenizer=None, options=None, **sizes):
    """A task of that architecture. moves: every weight is a little away from where it starts."""
    import tf_keras as keras

    keras.utils.set_random_seed(0)
    config = ARCHITECTURES[name](**{**tiny.sizes, **SIZES, **sizes})
    encoder = encoder_class(config.model_type)(config, **(options or {}))
    settings = {"labels": tiny.labels} if task is TextClassifier else {}
    model = task(encoder, tokenizer or tiny.tokenizer(), sequence_length=tiny.length, **settings)
    draw = np.random.default_rng(7)
    for variable in model.variables_by_path().values() if moves else ():
        variable.assign(variable + draw.normal(0, 0.2, variable.shape))
    return model


def output(model, texts) -> np.ndarray:
    """What a user reads, computed eagerly: nothing is traced for a handful of texts."""
    return model.serve(model.pack(texts))[model.output_name].numpy()


def assert_equal_weights(one, other) -> None:
    one, other = one.variables_by_path(), other.variables_by_path()
    assert one.keys() == other.keys()
    for path in one:
        np.testing.assert_array_equal(one[path], other[path], err_msg=path)


@pytest.fixture(scope="session")
def quantized(tiny):
    """A task in 8 bits, which nothing here cuts."""
    return tiny.narrow(policy=kb.compression.POLICIES["dynamic_wi8_afp32"])


@pytest.fixture(scope="session")
def plain(tiny):
    """A task of two layers with four heads and 64 neurons each; not to be changed."""
    return tiny.classifier()


@pytest.fixture(scope="session")
def make(tiny):
    """classifier, output and assert_equal_weights; architectures: their names."""
    return SimpleNamespace(
        classifier=partial(classifier, tiny),
        output=output,
        assert_equal_weights=assert_equal_weights,
        parameters=lambda model: sum(v.shape.num_elements() for v in model.variables_by_path().values()),
    )
