"""Delayed quantization of activations, frozen ranges."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression import QuantizationSchedule, quantize
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers


class Watched(QuantizationSchedule):
    """Keeps phase and one range after every step."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        point = self._quantizers[0]
        self.seen.append((point.phase, float(point.maximum)))


@pytest.fixture
def model(tiny):
    model = quantize(tiny.narrow(), "static_wi8_ai8", calibration=tiny.rows(16)[0])
    model.compile(kb.adamw(1e-3), run_eagerly=True)
    return model


@pytest.mark.long
def test_ranges_move_then_freeze(tiny, model):
    phases = Watched(model, delay=0.25, freeze=0.75)
    model.fit(*tiny.rows(32), batch_size=8, epochs=2, seed=0, verbose=0, callbacks=[phases])  # 8 steps
    assert [phase for phase, _ in phases.seen] == ["waiting"] * 2 + ["moving"] * 4 + ["frozen"] * 2
    ranges = [bound for _, bound in phases.seen]
    assert len(set(ranges[:6])) == 6 and len(set(ranges[5:])) == 1
    assert {point.phase for point in activation_quantizers(model) if point.kind == "static"} == {"moving"}


def test_activations_are_in_float_until_the_delay(tiny, model):
    inputs = {name: values for name, values in model.pack(tiny.rows(4)[0]).items()}
    points = [point for point in activation_quantizers(model) if point.kind == "static"]
    for point in points:  # a range that quantization cannot miss
        for _, maximum in point.variable_ranges:
            maximum.assign(1e-3)
    quantized = model(inputs, training=True).numpy()
    for point in points:
        point.phase = "waiting"
        for _, maximum in point.variable_ranges:
            maximum.assign(1e-3)
    waiting = model(inputs, training=True).numpy()
    assert np.abs(quantized - waiting).max() > 1e-3
    assert np.abs(model(inputs, training=False).numpy() - waiting).max() > 1e-3  # only training waits


@pytest.mark.long
def test_traced_training_changes_phase(tiny, model):
    model.compile(kb.adamw(1e-3))
    phases = Watched(model, freeze=0.5)
    model.fit(*tiny.rows(16), batch_size=8, epochs=2, seed=0, verbose=0, callbacks=[phases])
    ranges = [bound for _, bound in phases.seen]
    assert len(set(ranges[:2])) == 2 and ranges[1] == ranges[2] == ranges[3]


@pytest.mark.parametrize(("delay", "freeze"), [(-0.1, 1.0), (0.5, 0.5), (0.6, 0.5), (0.0, 1.1)])
def test_invalid_fractions_are_refused(model, delay, freeze):
    with pytest.raises(KerasBertError, match="shares of the steps"):
        QuantizationSchedule(model, delay, freeze)


def test_float_task_is_refused(tiny):
    with pytest.raises(KerasBertError, match="static ranges"):
        QuantizationSchedule(tiny.narrow())
