import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.optimizers.adamw import FusedAdamW
from kerasbert.training import WarmupLinearDecay, adamw


def variables():
    draw = np.random.default_rng(0)
    shapes = {"table": (9, 4), "kernel": (4, 3), "bias": (3,)}
    return [tf.Variable(draw.normal(size=shape), name=name, dtype=tf.float32) for name, shape in shapes.items()]


def steps(optimizer, count, sparse=False, summed=False):
    """The variables after some steps with gradients that differ from step to step. summed: the terms of a row are added up before."""
    trained, draw = variables(), np.random.default_rng(1)
    for _ in range(count):
        gradients = [tf.constant(draw.normal(size=v.shape), tf.float32) for v in trained]
        if sparse:  # row 2 twice, the others not at all
            gradients[0] = tf.IndexedSlices(gradients[0][:3], tf.constant([2, 5, 2]), tf.constant([9, 4]))
        if summed:
            gradients[0] = tf.convert_to_tensor(gradients[0])
        optimizer.apply_gradients(zip(gradients, trained, strict=True))
    return [v.numpy() for v in trained]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"weight_decay": 0.1, "epsilon": 1e-3, "beta_1": 0.7}, {"global_clipnorm": 0.5}]
)
def test_fused_update_is_that_of_keras(sparse, options):
    fused = steps(FusedAdamW(0.05, **options), 6, sparse)
    # Keras clips by the norm of the terms.
    keras_own = steps(keras.optimizers.AdamW(0.05, **options), 6, sparse, summed="global_clipnorm" in options)
    for ours, theirs in zip(fused, keras_own, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


def test_fused_update_follows_a_schedule():
    schedule = WarmupLinearDecay(0.1, 2, 5)
    for ours, theirs in zip(steps(FusedAdamW(schedule), 5), steps(keras.optimizers.AdamW(schedule), 5), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


def test_warmup_rises_to_the_peak_and_decay_ends_at_zero():
    schedule = WarmupLinearDecay(2.0, 4, 12)
    rates = [float(schedule(step)) for step in range(14)]
    np.testing.assert_allclose(rates[:4], [0.5, 1.0, 1.5, 2.0])
    np.testing.assert_allclose(rates[3:12], 2.0 * np.minimum(1, (12 - np.arange(3, 12)) / 8), rtol=1e-6)
    assert rates[11] > 0 and rates[12] == 0 and rates[13] == 0
    assert max(rates) == 2.0


def test_without_warmup_the_first_step_has_the_peak():
    assert float(WarmupLinearDecay(1.0, 0, 10)(0)) == 1.0


def test_schedule_config_round_trip():
    schedule = WarmupLinearDecay(3e-5, 10, 100)
    copy = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(schedule))
    assert isinstance(copy, WarmupLinearDecay) and copy.get_config() == schedule.get_config()


def test_optimizer_config_round_trip():
    optimizer = adamw(3e-2, warmup=0.1, steps=50)
    copy = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert isinstance(copy, FusedAdamW)
    assert copy.get_config()["learning_rate"] == optimizer.get_config()["learning_rate"]
    optimizer.weight_decay = copy.weight_decay = 0.5
    for ours, theirs in zip(steps(optimizer, 3), steps(copy, 3), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-6)  # the bias too: what does not decay is part of the config


def test_adamw_has_the_settings_of_bert():
    optimizer = adamw(1e-3, warmup=0.25, steps=8)
    assert optimizer._learning_rate.get_config() == {"peak": 1e-3, "warmup_steps": 2, "steps": 8}
    assert optimizer.global_clipnorm == 1.0 and optimizer.weight_decay == 0.01
    assert float(adamw(1e-3).learning_rate) == pytest.approx(1e-3)


def test_biases_and_norms_of_a_model_do_not_decay(tiny):
    model = tiny.narrow()
    optimizer = adamw(0.1)  # the default decay
    optimizer.weight_decay = 0.5
    before = {path: v.numpy().copy() for path, v in model.variables_by_path().items()}
    trained = model.trainable_variables
    optimizer.build(trained)
    optimizer.apply_gradients([(tf.zeros_like(v), v) for v in trained])
    for path, variable in model.variables_by_path().items():
        factor = 1.0 if path.endswith(("bias", "gamma", "beta")) else 1 - 0.1 * 0.5
        np.testing.assert_allclose(variable, before[path] * factor, rtol=1e-4, atol=1e-7, err_msg=path)
