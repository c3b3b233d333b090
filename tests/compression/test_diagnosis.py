"""Which tensor loses the signal."""

import json

import numpy as np
import pytest

from kerasbert.cli import main
from kerasbert.compression import diagnose, quantize
from kerasbert.compression.plots import plot_losses
from kerasbert.encoders.base import activation_points
from kerasbert.errors import KerasBertError


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(24, seed=3)[0]


def test_every_point_is_told_in_order(static_model, texts):
    found = diagnose(static_model, texts)
    paths = [loss.path for loss in found]
    held = {point.path for point in activation_points(static_model) if point.kind != "float"}
    assert set(paths) <= held and len(paths) == len(set(paths)) > 8
    assert (
        paths.index("layers.0.attention.input") < paths.index("layers.1.attention.input") < paths.index("pooler.input")
    )
    for loss in found:
        assert loss.signal_to_noise > 5 and 0.8 < loss.cosine <= 1 + 1e-9, loss
        assert loss.minimum <= loss.maximum and 0 <= loss.clipped_share <= 1
        assert (loss.range is None) == (loss.kind == "dynamic")
    assert not any(point.observer for point in activation_points(static_model))


def test_a_tensor_that_eight_bits_cannot_hold_is_the_worst(tiny, trained, texts):
    model = quantize(trained, "static_wi8_ai8", calibration=texts)
    broken = next(p for p in activation_points(model) if p.path == "layers.1.attention.context")
    before = {loss.path: loss for loss in diagnose(model, texts)}
    broken.maximum.assign(float(broken.maximum) * 400)
    broken.minimum.assign(float(broken.minimum) * 400)
    after = diagnose(model, texts)
    worst = min(after, key=lambda loss: loss.own_signal_to_noise)
    assert worst.path == broken.path and worst.own_signal_to_noise < before[broken.path].own_signal_to_noise - 20
    places = [loss.path for loss in after].index(broken.path)
    assert all(abs(loss.signal_to_noise - before[loss.path].signal_to_noise) < 1e-6 for loss in after[:places])
    assert after[-1].signal_to_noise < before[after[-1].path].signal_to_noise - 3  # and what follows suffers


def test_clipped_values_are_counted(trained, texts):
    model = quantize(trained, "static_wi8_ai8", calibration=texts)
    point = next(p for p in activation_points(model) if p.path == "layers.0.attention.input")
    point.maximum.assign(float(point.maximum) / 8)
    found = {loss.path: loss for loss in diagnose(model, texts)}
    assert found[point.path].clipped_share > 0.02
    assert found[point.path].maximum > found[point.path].range[1]


@pytest.mark.parametrize("recipe", ["dynamic_wi8_afp32", "weight_only_wi8"])
def test_activations_in_float_show_what_the_kernels_cost(trained, texts, recipe):
    found = diagnose(quantize(trained, recipe), texts)
    assert len(found) > 8 and all(loss.kind == "float" and loss.own_signal_to_noise == np.inf for loss in found)
    assert np.isfinite([loss.signal_to_noise for loss in found]).any() and found[-1].signal_to_noise > 15


@pytest.mark.parametrize("data", [[""], ["\u2603"]])
def test_data_without_a_word_are_refused(static_model, data):
    with pytest.raises(KerasBertError, match="in words that the model's tokenizer knows"):
        diagnose(static_model, data)


def test_no_row_is_refused(static_model, texts):
    with pytest.raises(KerasBertError, match="at least one row"):
        diagnose(static_model, texts, rows=0)


def test_a_float_task_is_refused(trained, texts):
    with pytest.raises(KerasBertError, match="quantized task"):
        diagnose(trained, texts)


def test_the_command(trained, tiny, tmp_path, capsys):
    trained.save_pretrained(tmp_path / "model")
    (tmp_path / "texts.tsv").write_text("text\n" + "\n".join(tiny.rows(30)[0]) + "\n", "utf-8")
    command = ["diagnose", str(tmp_path / "model"), "--data", str(tmp_path / "texts.tsv"), "--rows", "8"]
    assert main([*command, "--plot", str(tmp_path / "loss.png")]) == 0
    said = capsys.readouterr().out
    assert "own SNR" in said and "layers.0." in said and (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert main([*command, "--json", "--ranges", "mse"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["points"]) > 8 and np.isfinite(found["points"][0]["cosine"])
    assert main([*command, "--plot", str(tmp_path / "loss.pdf")]) == 2
    assert ".png or .svg" in capsys.readouterr().err


def test_the_plot_is_whole_or_not_at_all(static_model, texts, tmp_path):
    found = diagnose(static_model, texts, rows=4)
    plot_losses(found, tmp_path / "loss.svg")
    assert "<svg" in (tmp_path / "loss.svg").read_text("utf-8") and len(list(tmp_path.iterdir())) == 1
