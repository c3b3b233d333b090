"""Which tensor loses the signal."""

import json

import numpy as np
import pytest

from kerasbert.cli import main
from kerasbert.compression import diagnose, quantize
from kerasbert.compression.quantization.diagnosis import worst_first
from kerasbert.compression.quantization.plots import plot_losses
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import dense_layers


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(24, seed=3)[0]


def test_every_quantizer_is_reported_in_order(static_model, texts):
    found = diagnose(static_model, texts)
    paths = [loss.path for loss in found]
    held = {point.path for point in activation_quantizers(static_model) if point.kind != "float"}
    kernels = {f"{dense.path}.kernel" for dense in dense_layers(static_model)}
    assert set(paths) <= held | kernels | {"embeddings.word.table"} and len(paths) == len(set(paths)) > 8
    assert kernels <= set(paths) and paths[0] == "embeddings.word.table"
    place = paths.index("layers.1.attention.value.kernel")
    assert paths[place + 1] == "layers.1.attention.value.output"
    assert (
        paths.index("layers.0.attention.input") < paths.index("layers.1.attention.input") < paths.index("pooler.input")
    )
    for loss in found:
        assert loss.signal_to_noise > 5 and 0.8 < loss.cosine <= 1 + 1e-6, loss
        assert loss.least_signal_to_noise > 10 and loss.lost_channels < 0.1, loss
        assert loss.minimum <= loss.maximum and 0 <= loss.clipped_share <= 1
        assert (loss.range is None) == (loss.kind in ("dynamic", "kernel"))
    assert not any(point.observer for point in activation_quantizers(static_model))


@pytest.mark.long
def test_tensor_with_outliers_ranks_worst(tiny, trained, texts):
    model = quantize(trained, "static_wi8_ai8", calibration=texts)
    broken = next(p for p in activation_quantizers(model) if p.path == "layers.1.attention.context")
    before = {loss.path: loss for loss in diagnose(model, texts)}
    broken.maximum.assign(float(broken.maximum) * 400)
    broken.minimum.assign(float(broken.minimum) * 400)
    after = diagnose(model, texts)
    worst = min(after, key=lambda loss: loss.own_signal_to_noise)
    assert worst.path == broken.path and worst.own_signal_to_noise < before[broken.path].own_signal_to_noise - 20
    places = [loss.path for loss in after].index(broken.path)
    assert all(abs(loss.signal_to_noise - before[loss.path].signal_to_noise) < 1e-6 for loss in after[:places])
    assert worst_first(after)[0].path == broken.path
    kept = [loss for loss in after if loss.path != broken.path]  # a fault upstream is not theirs
    assert all(loss.own_signal_to_noise == before[loss.path].own_signal_to_noise for loss in kept)
    last = next(loss for loss in after if loss.path == "classifier.input")
    assert last.signal_to_noise < before[last.path].signal_to_noise - 3  # and what follows suffers


def value_column(task):
    """One channel of the values grows, and what reads it shrinks: in float nothing changes."""
    attention = task.encoder.layers[1].attention
    attention.value.kernel.assign(scaled(attention.value.kernel, 1, 3, 1000))
    attention.value.bias.assign(scaled(attention.value.bias, 0, 3, 1000))
    attention.output_dense.kernel.assign(scaled(attention.output_dense.kernel, 0, 3, 1 / 1000))
    return "layers.1.attention.value.output"


def kernel_row(task):
    """One input of a kernel weighs so much that the others round to nothing."""
    dense = task.encoder.layers[0].feed_forward.intermediate
    dense.kernel.assign(scaled(dense.kernel, 0, 5, 1000))
    return "layers.0.feed_forward.intermediate.kernel"


def word(task):
    """One word, which no text here has, takes the range of the table."""
    table = task.encoder.embeddings.word.table
    table.assign(scaled(table, 0, 4, 1000))
    return "embeddings.word.table"


def scaled(variable, axis: int, place: int, factor: float):
    values = np.moveaxis(variable.numpy(), axis, 0).copy()
    values[place] *= factor
    return np.moveaxis(values, 0, axis)


@pytest.mark.long_cases("value_column-static", "kernel_row-integer")
@pytest.mark.parametrize("integer_only", [False, True], ids=["static", "integer-only"])
@pytest.mark.parametrize("break_it", [value_column, kernel_row, word])
def test_broken_tensor_ranks_first(trained, texts, break_it, integer_only):
    task = trained.with_policy(None)
    path = break_it(task)
    found = diagnose(quantize(task, calibration=texts, integer_only=integer_only), texts)
    first = worst_first(found)[0]
    assert first.path == path and first.least_signal_to_noise < 10
    assert first.least_signal_to_noise < first.own_signal_to_noise - 20  # the huge values look well held


@pytest.mark.long
def test_outlier_tokens_clipped_by_the_fine_grid_do_not_count_as_loss(trained, texts):
    model = quantize(trained, calibration=texts, integer_only=True)
    norm = model.encoder.layers[0].attention_norm
    largest = float(norm.quantizers["squares"].maximum)
    norm.set_squares(0, largest / 50, outlier_tokens=True)
    found = {loss.path.removeprefix(f"{norm.path}."): loss for loss in diagnose(model, texts)}
    assert found["squares"].clipped_share == 1 and found["squares"].maximum > 20 * found["squares"].range[1]
    for name in ("squares", "large_squares"):  # the other grid holds them
        assert found[name].least_signal_to_noise > 20 and found[name].signal_to_noise > 20
    norm.set_squares(0, largest / 50, outlier_tokens=False)
    found = {loss.path.removeprefix(f"{norm.path}."): loss for loss in diagnose(model, texts)}
    assert found["squares"].least_signal_to_noise < 1


@pytest.mark.long
def test_small_channels_that_are_only_squared_do_not_count_as_loss(trained, texts):
    task = trained.with_policy(None)
    block = task.encoder.layers[0]
    for name in ("gamma", "beta"):  # a channel of the stream, which the equalizer scales down and `unscaled` does not
        variable = getattr(block.attention_norm, name)
        variable.assign(scaled(variable, 0, 5, 1000))
    reader = block.feed_forward.intermediate.kernel
    reader.assign(scaled(reader, 0, 5, 1 / 1000))
    found = {loss.path: loss for loss in diagnose(quantize(task, calibration=texts, integer_only=True), texts)}
    unscaled = found["layers.0.feed_forward_norm.unscaled"]
    assert unscaled.channel_ratio > 50 and unscaled.lost_channels > 0.5
    assert unscaled.least_signal_to_noise > 20


@pytest.mark.long
def test_clipped_values_are_counted(trained, texts):
    model = quantize(trained, "static_wi8_ai8", calibration=texts)
    point = next(p for p in activation_quantizers(model) if p.path == "layers.0.attention.input")
    point.maximum.assign(float(point.maximum) / 8)
    found = {loss.path: loss for loss in diagnose(model, texts)}
    assert found[point.path].clipped_share > 0.02
    assert found[point.path].maximum > found[point.path].range[1]


@pytest.mark.parametrize("recipe", ["dynamic_wi8_afp32", "weight_only_wi8"])
def test_float_activations_accumulate_the_loss_of_kernels(trained, texts, recipe):
    found = diagnose(quantize(trained, recipe), texts)
    activations = [loss for loss in found if loss.kind == "float"]
    assert len(activations) > 8 and all(loss.own_signal_to_noise == np.inf for loss in activations)
    assert np.isfinite([loss.signal_to_noise for loss in activations]).any() and activations[-1].signal_to_noise > 15
    assert {loss.kind for loss in worst_first(found)[: len(found) - len(activations)]} == {"kernel", "table"}


@pytest.mark.parametrize("data", [[""], ["\u2603"]])
def test_data_without_known_tokens_are_refused(static_model, data):
    with pytest.raises(KerasBertError, match="in words that the model's tokenizer knows"):
        diagnose(static_model, data)


def test_zero_rows_are_refused(static_model, texts):
    with pytest.raises(KerasBertError, match="at least one row"):
        diagnose(static_model, texts, rows=0)


def test_a_float_task_is_refused(trained, texts):
    with pytest.raises(KerasBertError, match="quantized task"):
        diagnose(trained, texts)


@pytest.mark.long
def test_diagnose_command_reports_losses(trained, tiny, tmp_path, capsys):
    task = trained.with_policy(None)
    path = value_column(task)
    task.save_pretrained(tmp_path / "model")
    lines = ["text\tlabel", *("\t".join(pair) for pair in zip(*tiny.rows(30), strict=True))]
    (tmp_path / "texts.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    command = ["diagnose", str(tmp_path / "model"), "--data", str(tmp_path / "texts.tsv"), "--rows", "8"]
    assert main([*command, "--plot", str(tmp_path / "loss.png"), "--points", "3"]) == 0
    said = capsys.readouterr().out
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    table = said.split("\n\n")[1].splitlines()
    assert table[0].split() == ["tensor", "SNR", "error", "same", "accuracy"] and len(table) == 5
    assert (
        table[2].startswith(path)
        and f"{path}: channel 3 is" in said
        and "worst for the output: layers.1.attention." in said
    )
    assert main([*command, "--json", "--calibration-method", "mse", "--points", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["points"]) > 8 and np.isfinite(found["points"][0]["cosine"])
    (effect,) = [point["effect"] for point in found["points"] if point["effect"]]
    assert 0 < effect["error"] <= 2 and found["metric"] == "accuracy" and found["examples"] == 8
    assert main([*command, "--plot", str(tmp_path / "loss.pdf")]) == 2
    assert ".png or .svg" in capsys.readouterr().err


@pytest.mark.long
def test_unknown_labels_are_ignored_with_a_note(static_model, tiny, tmp_path, capsys):
    static_model.save_pretrained(tmp_path / "model")
    (tmp_path / "texts.tsv").write_text("text\tlabel\nthe film was good\tother\na dull book\tother\n", "utf-8")
    command = ["diagnose", str(tmp_path / "model"), "--data", str(tmp_path / "texts.tsv"), "--points", "1", "--json"]
    assert main(command) == 0
    said = capsys.readouterr()
    assert "no metric, because the labels are not the model's" in said.err and json.loads(said.out)["metric"] is None


@pytest.mark.long
def test_plot_is_written_atomically(static_model, texts, tmp_path):
    found = diagnose(static_model, texts, rows=4)
    for name in ("loss.svg", "loss.svg", "loss.png", "loss.png"):  # the second one replaces the first
        plot_losses(found, tmp_path / name)
    (tmp_path / "loss.png").unlink()
    assert "<svg" in (tmp_path / "loss.svg").read_text("utf-8") and len(list(tmp_path.iterdir())) == 1
