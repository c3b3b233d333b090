"""Schedules at steps worked out by hand."""

import numpy as np
import pytest
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.optimizers.schedules import schedule
from kerasbert.training import WarmupConstant, WarmupCosineDecay, WarmupLinearDecay, adamw


def rates(of, steps):
    return [float(of(step)) for step in steps]


def test_linear_decay():
    np.testing.assert_allclose(
        rates(WarmupLinearDecay(2.0, 4, 12), [0, 1, 3, 4, 8, 10, 11, 12, 20]),
        [0.5, 1.0, 2.0, 2.0, 1.0, 0.5, 0.25, 0.0, 0.0],
        rtol=1e-6,
    )


def test_cosine_decay():
    half = np.sqrt(0.5)
    np.testing.assert_allclose(
        rates(WarmupCosineDecay(2.0, 4, 12), [0, 1, 3, 4, 6, 8, 10, 12, 20]),
        [0.5, 1.0, 2.0, 2.0, 1 + half, 1.0, 1 - half, 0.0, 0.0],
        atol=1e-6,
    )


def test_constant_rate():
    np.testing.assert_allclose(rates(WarmupConstant(2.0, 4), [0, 1, 3, 4, 1000]), [0.5, 1.0, 2.0, 2.0, 2.0])


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize("kind", [WarmupLinearDecay, WarmupCosineDecay])
def test_without_warmup_the_first_step_has_the_peak(kind):
    assert float(kind(1.0, 0, 10)(0)) == 1.0


@pytest.mark.parametrize("decay", ["linear", "cosine", "constant"])
def test_config_round_trip(decay):
    one = schedule(decay, 3e-5, 0.1, 100)
    copy = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(one))
    assert type(copy) is type(one) and copy.get_config() == one.get_config() and one.warmup_steps == 10


def test_a_model_saved_before_there_were_several_schedules_still_names_the_linear_one():
    import kerasbert.optimizers.adamw

    assert kerasbert.optimizers.adamw.WarmupLinearDecay is WarmupLinearDecay
    assert keras.saving.get_registered_name(WarmupLinearDecay) == "kerasbert>WarmupLinearDecay"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"decay": "cubic"}, "linear, cosine, constant, received 'cubic'"),
        ({"warmup": 2}, "from 0 to 1, received 2"),
        ({"steps": -3}, "at least 1"),
        ({"layer_decay": 0}, "`layer_decay=` above 0"),
        *[
            ({"learning_rate": rate}, f"`learning_rate=` of at least 0 and finite, received {rate}")
            for rate in (-1, NAN, INFINITE)
        ],
        *[({name: NAN}, f"`{name}=` of at least 0 and finite, received nan") for name in ("weight_decay", "clip_norm")],
        *[
            ({"rates": {"head": rate}}, f"`rates=` of at least 0 and finite, received {rate} for 'head'")
            for rate in (-1, NAN, INFINITE)
        ],
        ({"learning_rate": 0.0, "rates": {"head": 1}}, "`learning_rate=` above 0"),
    ],
)
def test_invalid_settings_are_refused(settings, told):
    with pytest.raises(KerasBertError, match=told):
        adamw(**{"learning_rate": 0.1, "steps": 10, **settings})
