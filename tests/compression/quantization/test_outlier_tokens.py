"""Rows that are many times as long as others: their sums of squares have a grid of their own."""

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.capture import captured
from kerasbert.compression.quantization.outlier_tokens import fine_grid_limit
from kerasbert.export.conversion import convert
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.traversal import sublayers

NORM = "layers.0.feed_forward_norm"


def normalized(model, texts, path=NORM) -> np.ndarray:
    """What a norm gives, (B, S, H), padding left out as zeros."""
    packed = {name: tf.constant(values) for name, values in model.pack(texts).items()}
    with captured() as found:
        states = model.encoder(packed, training=False, output_hidden_states=True).hidden_states
    rows = {name: out for name, _, out in found.get("norm", ())}.get(path, states[1])
    return np.array(rows) * packed["attention_mask"].numpy()[..., None]


@pytest.fixture(scope="module")
def long_first_row(tiny, trained):
    """The trained model with a neuron that answers [CLS] alone, and makes its row many times as long."""
    model = type(trained).from_config(trained.get_config())
    model.set_weights(trained.get_weights())
    texts = tiny.rows(64)[0]
    rows = normalized(model, texts, "layers.0.attention_norm")
    first, others = rows[:, 0], rows[:, 1:].reshape(-1, rows.shape[-1])
    others = others[np.abs(others).sum(1) > 0]
    direction = first.mean(0) - others.mean(0)
    least, most = (first @ direction).min(), (others @ direction).max()
    assert least > most
    network = model.encoder.layers[0].feed_forward
    kernel, bias = network.intermediate.kernel.numpy(), network.intermediate.bias.numpy()
    kernel[:, 0] = direction * 10 / (least - most)  # from -4 up to 6, which GELU lets through
    bias[0] = -4 - most * 10 / (least - most)
    output = network.output_dense.kernel.numpy()
    output[0] = 0
    output[0, 3] = 10
    for variable, values in zip(
        (network.intermediate.kernel, network.intermediate.bias, network.output_dense.kernel),
        (kernel, bias, output),
        strict=True,
    ):
        variable.assign(values)
    return model


@pytest.fixture(scope="module")
def quantized(tiny, long_first_row):
    return kb.compression.quantize(
        long_first_row, "static_wi8_ai8", calibration=tiny.rows(64, seed=1)[0], integer_only=True
    )


def norm_of(model) -> LayerNorm:
    return next(norm for norm in sublayers(model, LayerNorm) if norm.path == NORM)


def test_one_grid_suffices_for_similar_tokens():
    sums = np.linspace(100, 400, 200)
    assert fine_grid_limit(sums, np.ones(200, int), 400.0) is None


@pytest.mark.parametrize("times", [30, 100, 300])
def test_two_grids_fit_outlier_and_other_tokens(times):
    sums = np.append(np.linspace(150, 450, 200), 200.0 * times)
    reach = fine_grid_limit(sums, np.append(np.ones(200, int), 20), sums[-1])
    assert 450 * 1.1 < reach < sums[-1] / 2
    fine, coarse = (
        np.round(np.minimum(sums, reach) / (reach / 255)) * reach / 255,
        np.round(sums / (2 * reach)) * 2 * reach,
    )
    assert np.abs(np.sqrt(sums / np.maximum(fine, coarse)) - 1).max() < 0.08


def test_calibration_gives_the_next_norm_two_grids(quantized):
    two = [
        norm.path for norm in sublayers(quantized, LayerNorm)
        if float(norm.quantizers["large_squares"].maximum) > float(norm.quantizers["squares"].maximum)
    ]  # fmt: skip
    assert two == [NORM]


def test_other_tokens_are_normalized_accurately(tiny, long_first_row, quantized):
    texts = tiny.rows(40, seed=5)[0]
    exact = normalized(long_first_row, texts)[:, 1:]
    norm, packed = (
        norm_of(quantized),
        {name: tf.constant(values) for name, values in long_first_row.pack(texts).items()},
    )
    with captured() as found:
        long_first_row.encoder(packed, training=False)
    read = next(read for path, read, _ in found["norm"] if path == NORM).numpy()
    largest = float(np.square(read - read.mean(-1, keepdims=True)).sum(-1).max())

    def error() -> float:
        return float(np.linalg.norm(normalized(quantized, texts)[:, 1:] - exact) / np.linalg.norm(exact))

    points = norm.quantizers["squares"], norm.quantizers["large_squares"]
    ranges = [float(point.maximum) for point in points]
    two = error()
    try:
        for point in points:
            point.maximum.assign(largest)
        one = error()
    finally:
        for point, maximum in zip(points, ranges, strict=True):
            point.maximum.assign(maximum)
    assert two < 0.7 * one


@pytest.mark.long
def test_training_keeps_both_grids(tiny, quantized):
    model = type(quantized).from_config(quantized.get_config())
    model.set_weights(quantized.get_weights())
    points = [norm_of(model).quantizers[name] for name in ("squares", "large_squares", "inverse")]
    before = [float(point.maximum) for point in points]
    model.compile(kb.adamw(1e-3), run_eagerly=True)
    model.fit(*tiny.rows(32, seed=2), seed=0, verbose=0)
    after = [float(point.maximum) for point in points]
    assert after[:2] == before[:2] and after[2] != before[2]


@pytest.mark.long_cases
@pytest.mark.parametrize("kernels", ["xnnpack", "reference"])
def test_file_has_both_grids(tiny, quantized, kernels):
    content = convert(quantized).content
    packed = quantized.pack(tiny.rows(24, seed=5)[0])
    model = open_model(content, kernels=kernels)
    found = [model.run({k: v[i : i + 1] for k, v in packed.items()})["probabilities"] for i in range(24)]
    differences = np.abs(np.concatenate(found) - quantized.predict(packed))
    assert differences.mean() < 1 / 256 and differences.max() < 8 / 256
    assert sum(model.ops_by_backend[name].get("MINIMUM", 0) for name in model.ops_by_backend) == 1
