"""Ranges that gradients move: what the gradients are, when they move, and at which rate."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.compression import POLICIES, QuantizationSchedule, quantize
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import LearnedRangeFakeQuant, activation_quantizers
from kerasbert.layers.quantization.fake_quant import learned_fake_quant
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.optimizers.adamw import RANGE_RATE
from kerasbert.tasks.quantization_ranges import collect_ranges
from kerasbert.training import GradualUnfreezing
from kerasbert.training.distillation import Distiller, SoftLabels


def learning(tiny, integer_only: bool = False):
    return quantize(
        tiny.narrow(), "static_wi8_ai8", calibration=tiny.rows(16)[0], integer_only=integer_only, learned_ranges=True
    )


def ends(model) -> dict[str, float]:
    """Those that gradients decide."""
    learned = {point.path for point in activation_quantizers(model) if point.learned_ranges}
    found = {
        tuple(name.rsplit(".", 1)): value
        for name, value in collect_ranges(model).items()
        if not name.endswith("equalizer")
    }
    return {f"{point}.{end}": float(value) for (point, end), value in found.items() if point in learned}


def test_gradients_of_ranges_match_lsq():
    step, x = 0.0101, np.random.default_rng(0).normal(0, 1, (40, 50)).astype(np.float32)
    low, high = tf.Variable(-100 * step), tf.Variable(155 * step)  # zero lies on the grid
    weights = np.random.default_rng(1).normal(size=x.shape).astype(np.float32)

    def by_the_formula(x, low, high):
        size = (high - low) / 255
        rounded = x / size + tf.stop_gradient(tf.round(x / size) - x / size)
        return tf.where(x < low, low, tf.where(x > high, high, rounded * size))

    found = []
    for function in (learned_fake_quant, by_the_formula):
        with tf.GradientTape() as tape:
            values = tf.constant(x)
            tape.watch(values)
            y = function(values, low, high)
            loss = tf.reduce_sum(y * weights)
        found.append([y, *tape.gradient(loss, [values, low, high])])
    ours, expected = found
    np.testing.assert_allclose(ours[0], expected[0], atol=1e-5)
    clear = np.minimum(np.abs(x - low.numpy()), np.abs(x - high.numpy())) > step  # at an end both are right
    np.testing.assert_allclose(ours[1][clear], expected[1][clear], atol=1e-6)
    for one, other in zip(ours[2:], expected[2:], strict=True):
        assert float(one) * np.sqrt(x.size) == pytest.approx(float(other), rel=1e-3)


@pytest.mark.long
def test_learned_range_shrinks_past_a_harmless_outlier():
    """Clipping alone has no gradient here: only that of rounding tells that the range is too wide."""
    draw = np.random.default_rng(0)
    x = tf.constant(np.append(draw.normal(0, 1, 2000), 50.0).astype(np.float32))
    low, high = tf.Variable(-4.0), tf.Variable(50.0)
    optimizer = keras.optimizers.Adam(0.3, beta_2=0.9)
    losses = []
    for _ in range(250):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(learned_fake_quant(x, low, high) - x)[:-1])
        optimizer.apply_gradients([(gradient, high) for gradient in tape.gradient(loss, [high])])
        losses.append(float(loss))
    assert 2 < float(high) < 10 and losses[-1] < losses[0] / 10


@pytest.mark.long_cases
@pytest.mark.parametrize("integer_only", [False, True])
def test_training_moves_ranges_by_gradient_alone(tiny, integer_only):
    model = learning(tiny, integer_only)
    texts, labels = tiny.rows(8, seed=9)
    before = ends(model)
    inputs = {name: tf.constant(values) for name, values in model.pack(texts).items()}
    model(inputs, training=True)  # a moving average would have moved
    assert ends(model) == before
    model.compile(kb.adamw(1e-3), run_eagerly=True)
    model.fit(texts, labels, batch_size=8, epochs=1, verbose=0)
    after = ends(model)
    moved = {name: abs(after[name] - before[name]) for name in before}
    widths = {}
    for name in before:
        point = name.rpartition(".")[0]
        widths[name] = before[f"{point}.maximum"] - before[f"{point}.minimum"]
    assert sum(value > 0 for value in moved.values()) > len(moved) / 2
    for name, value in moved.items():  # Adam's first step is of one learning rate, here of ten widths
        assert value <= 1.02 * 1e-3 * RANGE_RATE * widths[name], name
    lows = [value for name, value in after.items() if name.endswith("minimum")]
    highs = [value for name, value in after.items() if name.endswith("maximum")]
    assert max(lows) <= 0 <= min(highs)


class Watched(QuantizationSchedule):
    """Keeps phase and ranges after every step."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append((self._quantizers[0].phase, ends(self.model)))


@pytest.mark.long_cases
@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.long)])
def test_schedule_applies_to_learned_ranges(tiny, jit):
    model = learning(tiny)
    model.compile(kb.adamw(1e-3), jit_compile=jit)
    phases = Watched(model, delay=0.25, freeze=0.75)
    model.fit(*tiny.rows(32), batch_size=8, epochs=2, seed=0, verbose=0, callbacks=[phases])  # 8 steps
    assert [phase for phase, _ in phases.seen] == ["waiting"] * 2 + ["moving"] * 4 + ["frozen"] * 2
    assert phases.seen[0][1] != phases.seen[1][1]  # while it waits a range follows the data
    assert phases.seen[4][1] != phases.seen[5][1]
    assert phases.seen[5][1] == phases.seen[6][1] == phases.seen[7][1]


def test_learning_rates_of_parts_apply_to_their_ranges(tiny):
    model = learning(tiny)
    before = ends(model)
    model.compile(kb.adamw(1e-3, rates={"*": 0, "layers.0": 1e-3}), run_eagerly=True)
    model.fit(*tiny.rows(16), batch_size=8, verbose=0)
    moved = [name for name, value in ends(model).items() if value != before[name]]
    assert moved and all(name.startswith("layers.0.") for name in moved)


@pytest.mark.long
def test_ranges_of_frozen_layers_stay(tiny):
    model = learning(tiny)
    before = ends(model)
    model.compile(kb.adamw(1e-3), run_eagerly=True)
    model.fit(*tiny.rows(16), batch_size=8, verbose=0, callbacks=[GradualUnfreezing(model)])
    moved = [name for name, value in ends(model).items() if value != before[name]]
    assert moved and not any(name.startswith(("layers.", "embeddings.")) for name in moved)


@pytest.mark.long
def test_saved_model_continues_learning_ranges(tiny, tmp_path):
    model = learning(tiny, integer_only=True)
    model.compile(kb.adamw(1e-3))
    model.fit(*tiny.rows(16), batch_size=8, verbose=0)
    model.save_pretrained(tmp_path / "int8")
    again = kb.load_task(tmp_path / "int8")
    assert again.policy.learned_ranges and ends(again) == ends(model)
    assert model.variables_by_path().keys() == tiny.narrow().variables_by_path().keys()  # ranges are no weights
    texts = tiny.rows(6, seed=4)[0]
    np.testing.assert_array_equal(again.predict(texts), model.predict(texts))
    others = {
        point.path
        for point in activation_quantizers(again)
        if getattr(point, "variable_ranges", None) and not isinstance(point, LearnedRangeFakeQuant)
    }
    assert {path for path in others if not path.endswith("squares")} == {
        "layers.0.attention.key.output",
        "layers.0.attention.value.output",
    }


@pytest.mark.long
def test_a_student_learns_its_ranges(tiny):
    model = learning(tiny)
    before = ends(model)
    distiller = Distiller(model, tiny.narrow(), [SoftLabels()])
    distiller.compile(kb.adamw(1e-3))
    distiller.fit(*tiny.rows(16), batch_size=8, verbose=0)
    assert ends(model) != before


@pytest.mark.parametrize("recipe", ["dynamic_wi8_afp32", "weight_only_wi8", "static_wi8_ai16"])
def test_recipes_without_ranges_of_eight_bits_are_refused(tiny, recipe):
    with pytest.raises(KerasBertError, match=f"static ranges of 8 bits for learned ranges, received '{recipe}'"):
        quantize(tiny.narrow(), recipe, calibration=tiny.rows(4)[0], learned_ranges=True)


def test_a_policy_of_sixteen_bits_learns_no_ranges():
    with pytest.raises(KerasBertError, match="activation_bits as 8 for learned ranges, received 16"):
        QuantizationPolicy("mine", activation_bits=16, learned_ranges=True)


def test_custom_policy_declares_learned_ranges(tiny):
    with pytest.raises(KerasBertError, match="a policy with learned_ranges=True, received one without"):
        quantize(tiny.narrow(), POLICIES["static_wi8_ai8"], calibration=tiny.rows(4)[0], learned_ranges=True)
