import numpy as np
import pytest
import tensorflow as tf

from kerasbert.encoders import MobileBertConfig, MobileBertEncoder
from kerasbert.layers.blocks.bottleneck import Bottleneck
from kerasbert.layers.no_norm import NoNorm
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.layers.quantization.norms import make_norm

SIZES = {
    "vocab_size": 20,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 12,
    "embedding_size": 8,
    "intra_bottleneck_size": 8,
}


def folded_bottleneck() -> Bottleneck:
    config = MobileBertConfig(**SIZES)
    return Bottleneck(config, LayerFactory(config, None, "bottleneck"), 8)


def test_no_norm_is_a_scale_and_a_shift():
    norm = NoNorm("norm")
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    norm(x)
    norm.gamma.assign([1, 2, 3, 4])
    norm.beta.assign([0, 0, 1, -1])
    np.testing.assert_allclose(norm(x), x * [1, 2, 3, 4] + [0, 0, 1, -1], rtol=1e-6)


def test_norms_by_name():
    assert isinstance(make_norm("layer_norm", 1e-12, "n"), LayerNorm)
    with pytest.raises(ValueError, match="layer_norm.*'batch_norm'"):
        make_norm("batch_norm", 1e-12, "n")


def test_a_norm_that_is_folded_into_a_dense_computes_the_same():
    bottleneck = folded_bottleneck()
    draw = np.random.default_rng(1)
    x = draw.normal(size=(2, 3, 16)).astype(np.float32)
    bottleneck(x)
    norm, dense = bottleneck.norm, bottleneck.dense
    for weight in (norm.gamma, norm.beta, dense.bias):
        weight.assign(draw.normal(size=weight.shape))
    plain = (x @ dense.kernel.numpy() + dense.bias.numpy()) * norm.gamma.numpy() + norm.beta.numpy()
    np.testing.assert_allclose(bottleneck(x), plain, atol=1e-5)
    np.testing.assert_allclose(dense.served_kernel(), dense.kernel.numpy() * norm.gamma.numpy(), rtol=1e-6)


def test_a_folded_norm_is_trained():
    bottleneck = folded_bottleneck()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(bottleneck(np.ones((1, 2, 16), np.float32), training=True)))
    weights = [bottleneck.norm.gamma, bottleneck.norm.beta]
    assert all(np.abs(gradient).max() > 0 for gradient in tape.gradient(loss, weights))
    assert {id(weight) for weight in weights} <= {id(weight) for weight in bottleneck.trainable_weights}


def test_a_trigram_sees_its_neighbours_only():
    encoder = MobileBertEncoder(MobileBertConfig(**SIZES), pooler=False)
    ids = np.array([[1, 2, 3, 4, 5, 6]])
    embedded = [encoder.embeddings(row, np.zeros_like(ids)).numpy() for row in (ids, np.array([[1, 2, 3, 9, 5, 6]]))]
    changed = np.abs(embedded[0] - embedded[1]).max(axis=(0, 2)) > 0
    np.testing.assert_array_equal(changed, [False, False, True, True, True, False])


@pytest.mark.parametrize(
    "switches", [{"use_bottleneck": False, "trigram_input": False}, {"classifier_activation": False}]
)
def test_switches_add_and_remove_weights(switches):
    encoder = MobileBertEncoder(MobileBertConfig(**{**SIZES, **switches}))
    output = encoder(np.array([[1, 2, 3]]))
    paths = encoder.variables_by_path()
    assert any("bottleneck" in path for path in paths) == switches.get("use_bottleneck", True)
    assert ("pooler.kernel" in paths) == switches.get("classifier_activation", True)
    assert output.pooled.shape == (1, 16)
    if "pooler.kernel" not in paths:
        np.testing.assert_array_equal(output.pooled, output.sequence[:, 0])
