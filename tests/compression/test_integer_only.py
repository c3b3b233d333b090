"""Models without any float: what is rewritten is the same function, and every step has a point."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.compression import INTEGER_ONLY, quantize
from kerasbert.errors import KerasBertError
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.quantization.norms import make_norm
from kerasbert.layers.quantization.padding import INTEGER_MASK
from kerasbert.layers.quantization.policy import QuantizationPolicy

REWRITTEN = replace(INTEGER_ONLY, kernels=False, tables=False, activations=())


@pytest.fixture(scope="module")
def rewritten(trained):
    """The graph of an integer-only model, with nothing in 8 bits."""
    return quantize(trained, REWRITTEN)


def test_the_rewritten_graph_is_the_same_function(tiny, trained, rewritten):
    texts, _ = tiny.rows(40, seed=5)
    # What is left out of a norm, the mean of a stream, is next to nothing but not nothing.
    assert np.abs(rewritten.predict(texts) - trained.predict(texts)).max() < 0.02
    packed = {name: tf.constant(values) for name, values in trained.pack(texts).items()}
    ours, theirs = (model.encoder(packed, output_hidden_states=True).hidden_states for model in (rewritten, trained))
    for one, other in zip(ours, theirs, strict=True):
        cosines = (one * other).numpy().sum(-1) / np.linalg.norm(one, axis=-1) / np.linalg.norm(other, axis=-1)
        assert cosines.min() > 0.995


def test_equalization_of_residuals_is_an_identity_in_float(tiny, rewritten):
    texts, _ = tiny.rows(20, seed=6)
    exact = rewritten.predict(texts)
    draw = np.random.default_rng(0)
    streams = [point for point in activation_quantizers(rewritten) if point.equalizer is not None]
    assert [point.path for point in streams] == [
        "embeddings.stream", *(f"layers.{i}.{part}_stream" for i in (0, 1) for part in ("attention", "feed_forward"))
    ]  # fmt: skip
    try:
        for point in streams:
            point.equalizer.assign(draw.uniform(0.1, 1.0, point.equalizer.shape))
        rewritten.forget_traces()
        np.testing.assert_allclose(rewritten.predict(texts), exact, atol=1e-5)
        packed = {name: tf.constant(values) for name, values in rewritten.pack(texts).items()}
        scaled = rewritten.encoder(packed, output_hidden_states=True).hidden_states
    finally:
        for point in streams:
            point.equalizer.assign(tf.ones_like(point.equalizer))
        rewritten.forget_traces()
    plain = rewritten.encoder(packed, output_hidden_states=True).hidden_states
    for one, other in zip(scaled, plain, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_centered_residuals_have_almost_zero_mean(tiny, rewritten):
    """What a norm would take off: written without one."""
    seen = {}

    class Means:
        before_scaling = True

        def __call__(self, point, x):
            if point.path.endswith("stream"):
                values = x.numpy()
                seen[point.path] = np.abs(values.mean(-1)).max() / values.std()
            return x

    for point in activation_quantizers(rewritten):
        point.observer = Means()
    try:
        rewritten.serve({name: tf.constant(values) for name, values in rewritten.pack(tiny.rows(8)[0]).items()})
    finally:
        for point in activation_quantizers(rewritten):
            point.observer = None
    assert len(seen) == 5 and max(seen.values()) < 0.05 and seen["embeddings.stream"] < 1e-5


def test_only_integer_policies_quantize_intermediate_steps(static_model, trained):
    inner = {
        "layers.0.attention_norm.squares",
        "layers.0.attention.scores",
        "layers.0.attention.masked_scores",
        "answer",
    }
    for model in (trained, static_model):
        assert not inner & {point.path for point in activation_quantizers(model) if point.kind != "float"}
    held = quantize(trained, REWRITTEN)
    assert inner <= {point.path for point in activation_quantizers(held)}


@pytest.mark.long
def test_padding_gets_no_attention_for_any_calibration(tiny):
    texts = ["good film a book", "bad song the film"] * 2  # no padding among them
    model = quantize(tiny.narrow(), "static_wi8_ai8", calibration=texts, integer_only=True)
    masked = next(point for point in activation_quantizers(model) if point.path.endswith("masked_scores"))
    assert float(masked.minimum) <= INTEGER_MASK
    model.compile(kb.adamw(1e-3), run_eagerly=True)
    model.fit(texts, ["positive"] * 4, batch_size=1, seed=0, verbose=0)
    assert float(masked.minimum) <= INTEGER_MASK


@pytest.mark.parametrize("options", [{"adapters": 4}, {"layer_mix": True}])
def test_extensions_without_integer_form_are_refused(tiny, options):
    encoder = tiny.encoder()
    with pytest.raises(KerasBertError, match=r"(adapters|mix of layers).*without integer_only"):
        type(encoder)(encoder.config, INTEGER_ONLY, **options)


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"activations": (("*.intermediate.output", "float"), ("*", "static"))}, "intermediate.output is float"),
        ({"activations": (("*.feed_forward.hidden", "dynamic"), ("*", "static"))}, "feed_forward.hidden is dynamic"),
        ({"kernel_bits": 4}, "of 8 bits in an integer-only policy"),
        ({"tables": False}, "of 8 bits in an integer-only policy"),
    ],
)
@pytest.mark.long_cases
def test_contradictory_integer_policies_are_refused(tiny, trained, change, expected):
    with pytest.raises(KerasBertError, match=expected):
        quantize(trained, replace(INTEGER_ONLY, **change), calibration=tiny.rows(8)[0])


@pytest.mark.long
def test_integer_only_task_survives_saving(tiny, trained, tmp_path):
    model = quantize(trained, "static_wi8_ai8", calibration=tiny.rows(32)[0], integer_only=True)
    model.save_pretrained(tmp_path / "model")
    again = kb.load_task(tmp_path / "model")
    assert again.policy == INTEGER_ONLY
    texts, _ = tiny.rows(20, seed=8)
    np.testing.assert_array_equal(again.predict(texts), model.predict(texts))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.predict(texts), model.predict(texts), atol=1e-6)


@pytest.mark.long
def test_gradients_are_those_of_the_float_model(tiny, trained):
    texts, labels = tiny.rows(32, seed=1)
    # Many of them wrong: what the model was trained on leaves it no gradient to speak of.
    labels = labels[:1] * len(labels)
    model = quantize(trained, "static_wi8_ai8", calibration=texts, integer_only=True)
    plain = trained.with_policy(None)
    inputs = {name: tf.constant(values) for name, values in trained.pack(texts).items()}
    gradients = []
    for each in (plain, model):
        for layer in (
            each,
            each.encoder.embeddings,
            *each.encoder.layers,
            *(b.attention for b in each.encoder.layers),
        ):
            layer.dropout.rate = 0.0
        paths = each.variables_by_path()
        with tf.GradientTape() as tape:
            loss = each.default_loss()(each.encode_labels(labels), each(inputs, training=True))
        found = tape.gradient(loss, list(paths.values()))
        gradients.append({p: tf.convert_to_tensor(g).numpy() for p, g in zip(paths, found, strict=True)})
    for path, exact in gradients[0].items():
        got = gradients[1][path]
        if path.endswith("key.bias"):  # softmax is blind to it
            continue
        cosine = np.sum(got * exact) / (np.linalg.norm(got) * np.linalg.norm(exact))
        assert cosine > 0.8, (path, cosine)


def test_layer_norm_outside_of_residuals_subtracts_its_mean():
    policy = QuantizationPolicy("mine", integer_only=True)
    norm = make_norm("layer_norm", 1e-12, "norm", policy)
    x = np.random.default_rng(0).normal(3.0, 1.0, (2, 5, 16)).astype(np.float32)
    plain = LayerNorm(1e-12, "plain")
    np.testing.assert_allclose(norm(x), plain(x), atol=1e-4)
