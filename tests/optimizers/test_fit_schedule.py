"""Schedules of `kb.adamw` without `steps`: they have the steps of `fit`."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.optimizers.fit_schedule import FitSchedule
from kerasbert.training import WarmupLinearDecay

pytestmark = pytest.mark.one_layer


class Rates(keras.callbacks.Callback):
    """The learning rate of every step."""

    def __init__(self):
        super().__init__()
        self.used = []

    def on_train_batch_end(self, batch, logs=None):
        self.used.append(float(self.model.optimizer.learning_rate))


def fitted(model, x, y=None, **options):
    callback = Rates()
    model.fit(x, y, batch_size=4, verbose=0, seed=0, callbacks=[callback], **options)
    return callback.used


def by_hand(peak, warmup_steps, steps):
    """Linear warm-up, then linear decay to 0: Devlin et al. 2018, appendix A."""
    decay = max(steps - warmup_steps, 1)
    return [peak * max(0, min((i + 1) / max(warmup_steps, 1), (steps - i) / decay, 1)) for i in range(steps)]


@pytest.fixture
def model(tiny):
    task = tiny.narrow()
    task.compile(kb.adamw(0.01, warmup=0.25), run_eagerly=True)
    return task


def unknown_size(texts, labels, size=4):
    """A dataset of batches whose number tf.data does not know."""
    data = tf.data.Dataset.from_tensor_slices((texts, labels)).filter(lambda *_: True).batch(size)
    assert data.cardinality() == tf.data.UNKNOWN_CARDINALITY
    return data


CALLS = {
    "texts": (lambda x, y: {"x": x, "y": y, "epochs": 2}, 8),
    "validation split": (lambda x, y: {"x": x, "y": y, "epochs": 2, "validation_split": 0.25}, 6),
    "steps per epoch": (lambda x, y: {"x": x, "y": y, "epochs": 2, "steps_per_epoch": 2}, 4),
    "dataset": (lambda x, y: {"x": tf.data.Dataset.from_tensor_slices((x, y)).batch(8), "epochs": 2}, 4),
    "dataset of unknown size": (lambda x, y: {"x": unknown_size(x, y), "epochs": 2}, 8),
    "endless dataset": (lambda x, y: {"x": unknown_size(x, y).repeat(), "steps_per_epoch": 4}, 4),
}


@pytest.mark.long_cases("texts", "unknown")
@pytest.mark.parametrize("call", CALLS)
def test_the_schedule_has_the_steps_of_fit(tiny, model, call):
    make, steps = CALLS[call]
    rates = fitted(model, **make(*tiny.rows(16)))
    np.testing.assert_allclose(rates, by_hand(0.01, round(0.25 * steps), steps), rtol=1e-5)


@pytest.mark.long
def test_every_fit_has_a_schedule_of_its_own(tiny, model):
    rates = fitted(model, *tiny.rows(16)) + fitted(model, *tiny.rows(32))
    np.testing.assert_allclose(rates, by_hand(0.01, 1, 4) + by_hand(0.01, 2, 8), rtol=1e-5)


@pytest.mark.long
def test_a_resumed_fit_continues_the_schedule(tiny, model):
    x, y = tiny.rows(16)
    rates = fitted(model, x, y, epochs=3, start=(1, 2))
    np.testing.assert_allclose(rates, by_hand(0.01, 3, 12)[6:], rtol=1e-5)
    model.compile(kb.adamw(0.01, warmup=0.25), run_eagerly=True)
    rates = fitted(model, x, y, epochs=3, initial_epoch=2)
    np.testing.assert_allclose(rates, by_hand(0.01, 3, 12)[8:], rtol=1e-5)


@pytest.mark.long_cases("constant")
@pytest.mark.parametrize("decay", ["linear", "cosine", "constant"])
def test_traced_training_equals_that_with_steps_given(tiny, decay):
    weights = []
    for steps in (None, 6):
        model = tiny.narrow()
        model.compile(kb.adamw(0.01, warmup=0.3, steps=steps, decay=decay), run_eagerly=decay != "linear")
        model.fit(*tiny.rows(12), batch_size=4, epochs=2, seed=0, verbose=0)
        weights.append(model.classifier.kernel.numpy())
    np.testing.assert_array_equal(*weights)


@pytest.mark.long
def test_a_traced_step_follows_the_schedule_of_the_next_fit(tiny):
    model = tiny.narrow()
    model.compile(kb.adamw(0.01, warmup=0.25))
    rates = fitted(model, *tiny.rows(16)) + fitted(model, *tiny.rows(32))
    np.testing.assert_allclose(rates, by_hand(0.01, 1, 4) + by_hand(0.01, 2, 8), rtol=1e-5)


@pytest.mark.long
def test_a_saved_model_keeps_the_schedule_and_begins_one_with_the_next_fit(tiny, model, tmp_path):
    fitted(model, *tiny.rows(16))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    rate = loaded.optimizer._learning_rate
    assert isinstance(rate, FitSchedule) and rate.get_config() == {
        "decay": "linear", "peak": 0.01, "warmup": 0.25, "steps": 4, "first": 0,
    }  # fmt: skip
    np.testing.assert_allclose([float(rate(i)) for i in range(4)], by_hand(0.01, 1, 4), rtol=1e-5)
    np.testing.assert_allclose(fitted(loaded, *tiny.rows(32)), by_hand(0.01, 2, 8), rtol=1e-5)


@pytest.mark.long
def test_a_schedule_that_ends_before_fit_is_noted_once(tiny, capsys):
    model = tiny.narrow()
    model.compile(kb.adamw(0.01, steps=3), run_eagerly=True)
    rates = fitted(model, *tiny.rows(16))
    assert rates[-1] == 0
    assert capsys.readouterr().err.startswith(
        "note: the learning rate is 0 from step 3 on, and fit ends with step 4; leave out steps= of kb.adamw"
    )
    fitted(model, *tiny.rows(16))
    assert "learning rate" not in capsys.readouterr().err
    for optimizer in (kb.adamw(0.01, steps=4), keras.optimizers.Adam(WarmupLinearDecay(0.1, 1, 4))):
        model.compile(optimizer, run_eagerly=True)
        fitted(model, *tiny.rows(16))
    assert "learning rate" not in capsys.readouterr().err


def test_outside_fit_the_rate_is_the_peak():
    assert float(kb.adamw(1e-3).learning_rate) == pytest.approx(1e-3)
    constant = kb.adamw(1e-3, warmup=0, decay="constant")
    assert isinstance(constant.learning_rate, tf.Variable)


@pytest.mark.parametrize(
    "callback", [keras.callbacks.ReduceLROnPlateau(), keras.callbacks.LearningRateScheduler(lambda epoch: 0.1)]
)
def test_callbacks_that_set_a_rate_need_a_constant_one(tiny, model, callback):
    with pytest.raises(KerasBertError, match=r'compile with kb.adamw\(rate, warmup=0, decay="constant"\)'):
        model.fit(*tiny.rows(4), callbacks=[callback], verbose=0)
    model.compile(kb.adamw(0.01, warmup=0, decay="constant"), run_eagerly=True)
    model.fit(*tiny.rows(4), validation_data=tiny.rows(4), callbacks=[callback], verbose=0)


@pytest.mark.parametrize("steps", [0, -1, 2.5, "12"])
def test_steps_are_a_whole_number(steps):
    with pytest.raises(KerasBertError, match="expected steps as a whole number of at least 1"):
        kb.adamw(1e-3, steps=steps)


@pytest.mark.parametrize("settings", [{"decay": "step"}, {"warmup": 1.5}])
def test_wrong_settings_are_refused_without_steps_too(settings):
    with pytest.raises(KerasBertError):
        kb.adamw(1e-3, **settings)
