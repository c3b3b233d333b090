"""Partitioned models for an Edge TPU and its host."""

from collections import Counter

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.cli import main
from kerasbert.errors import KerasBertError
from kerasbert.export.backends import edge_tpu
from kerasbert.export.backends.edge_tpu import forecast
from kerasbert.export.conversion import convert
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.model_parts import host_path
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED
from kerasbert.export.validator import validate

KERNELS = ["xnnpack", "reference"]


@pytest.fixture(scope="module")
def calibration(tiny):
    return tiny.rows(64, seed=1)[0]


@pytest.fixture(scope="module")
def made(learned_mobilebert, calibration, tmp_path_factory):
    """A calibrated task, its partitioned model, and its integer-only file."""
    task = kb.compression.quantize(learned_mobilebert, "static_wi8_ai8", calibration=calibration, integer_only=True)
    folder = tmp_path_factory.mktemp("split")
    return (
        task,
        convert(task, target="edge-tpu").save(folder / "model.tflite"),
        convert(task).save(folder / "whole.tflite"),
    )


def outputs(path, rows, kernels="xnnpack"):
    model = open_model(path, kernels=kernels)
    found = [
        model.run({name: values[i : i + 1] for name, values in rows.items()}) for i in range(len(rows["input_ids"]))
    ]
    return np.concatenate([each["probabilities"] for each in found])


@pytest.mark.long
def test_every_operator_of_the_body_is_forecast_as_mapped(made):
    file = ModelFile.read(made[1])
    assert Counter(verdict.unsupported_reason for verdict in forecast(file)) == {None: len(file.subgraphs[0].operators)}
    assert {tensor.dtype for tensor in file.subgraphs[0].tensors if not tensor.constant} == {"int8"}
    assert {name: file.subgraphs[0].tensors[index].name for name, index in file.signatures[0].inputs.items()} == {
        "hidden": "hidden", "attention_bias": "attention_bias"
    }  # fmt: skip


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.long_cases
def test_two_files_compute_what_one_file_computes(tiny, made, kernels):
    task, path, whole = made
    rows = task.pack(tiny.rows(48, seed=7)[0])
    expected = outputs(whole, rows, kernels)
    found = outputs(path, rows, kernels)
    assert np.abs(found - expected).mean() < 0.01  # single uncertain texts may differ more
    assert (found.argmax(1) == expected.argmax(1)).mean() > 0.95
    assert 0.3 < expected.argmax(1).mean() < 0.7


def test_kernel_sets_agree(tiny, made):
    task, path, _ = made
    rows = task.pack(tiny.rows(48, seed=7)[0])
    differences = np.abs(outputs(path, rows, "xnnpack") - outputs(path, rows, "reference"))
    assert differences.mean() < 0.01


@pytest.mark.long
def test_it_predicts_and_passes_validation(tiny, made):
    task, path, _ = made
    texts, labels = tiny.rows(200, seed=7)
    assert open_pipeline(path).score(texts, labels)["accuracy"] > 0.85
    report = validate(path, against=task, data=(texts, labels), on=["cpu", "edge-tpu", "web", "gpu"])
    found = {check.name: check for check in report.checks}
    assert found["cpu-xnnpack"].status == found["cpu-reference"].status == found["edge-tpu body"].status == PASSED
    assert found["edge-tpu forecast"].status == NOT_RUN and "all" in found["edge-tpu forecast"].reason
    assert found["web"].status == found["gpu"].status == NOT_RUN
    assert {found["edge-tpu compiler"].status, found["edge-tpu device"].status} == {NOT_RUN}


@pytest.mark.long
def test_an_unpartitioned_file_has_no_body(tiny, made):
    task, _, whole = made
    found = {check.name: check for check in validate(whole, against=task, data=tiny.rows(8), on="edge-tpu").checks}
    assert found["edge-tpu body"].status == NOT_RUN and "--target edge-tpu" in found["edge-tpu body"].reason
    assert found["edge-tpu forecast"].status == FAILED


@pytest.fixture(scope="module")
def new_file(tiny, calibration, tmp_path_factory):
    """An untrained model of one block at another length, converted by the command."""
    folder = tmp_path_factory.mktemp("new")
    tiny.mobilebert(num_hidden_layers=1, num_feedforward_networks=1).save_pretrained(folder / "task")
    texts, out = folder / "texts.tsv", folder / "new.tflite"
    texts.write_text("text\tlabel\n" + "".join(f"{text}\tnegative\n" for text in calibration))
    options = ["--target", "edge-tpu", "--length", "8", "--calibration", str(texts)]
    assert main(["convert", str(folder / "task"), *options, "-o", str(out)]) == 0
    return out


@pytest.mark.long
def test_a_dense_layer_without_a_bias_gets_zeros(new_file):
    """A new model's biases are zero, and the converter leaves them out."""
    assert set(open_model(new_file).ops_by_backend["xnnpack"]) >= {"CONV_2D"}


@pytest.fixture(scope="module")
def bert_file(trained, calibration, tmp_path_factory):
    made = convert(trained, target="edge-tpu", calibration=calibration)
    return made.save(tmp_path_factory.mktemp("bert") / "bert.tflite")


@pytest.mark.long
def test_gelu_and_norms_are_forecast_on_the_cpu(tiny, trained, bert_file):
    """The forecast names the operators of an unsuitable encoder, causes first."""
    refused = Counter(
        verdict.operator
        for verdict in forecast(ModelFile.read(bert_file))
        if verdict.unsupported_reason == "no such operator"
    )
    assert set(refused) == {"GELU", "BATCH_MATMUL"}  # the latter in norms
    report = validate(bert_file, against=trained, data=tiny.rows(150), on="edge-tpu", rows=150)
    found = {check.name: check for check in report.checks}
    assert found["edge-tpu forecast"].status == FAILED and "GELU: no such operator" in found["edge-tpu forecast"].reason
    assert found["edge-tpu body"].status == PASSED


def test_a_missing_or_foreign_host_model_is_refused(made, new_file, tmp_path):
    _, path, _ = made
    alone = tmp_path / "alone.tflite"
    alone.write_bytes(path.read_bytes())
    with pytest.raises(KerasBertError, match="expected alone.host.tflite beside alone.tflite"):
        open_model(alone)
    with pytest.raises(KerasBertError, match="save both parts"):
        open_model(path.read_bytes())
    host_path(alone).write_bytes(host_path(new_file).read_bytes())
    with pytest.raises(KerasBertError, match="expected outputs of .*alone.host.tflite that fit"):
        open_model(alone)


def test_unsupported_tasks_and_options_are_refused(tiny, calibration, learned_mobilebert):
    with pytest.raises(KerasBertError, match="received SentenceEncoder with mean pooling"):
        convert(tiny.sentence_encoder(), target="edge-tpu", calibration=calibration)
    for settings, message in (
        ({"length": "resizable"}, "received a resizable length"),
        ({"length": [8, 16]}, "expected one length"),
        ({"recipe": "float32"}, "expected the recipe 'static_wi8_ai8'"),
        ({}, "expected calibration texts"),
    ):
        with pytest.raises(KerasBertError, match=message):
            convert(learned_mobilebert, target="edge-tpu", **settings)


def test_the_command_writes_both_parts(new_file, capsys):
    assert host_path(new_file).is_file() and new_file.with_name("new.tflite.json").is_file()
    assert main(["predict", str(new_file), "good"]) == 0
    assert capsys.readouterr().out.strip()


def test_a_device_needs_its_driver_and_a_compiled_body(made, monkeypatch):
    from types import SimpleNamespace

    context = SimpleNamespace(model_path=str(made[1]))
    monkeypatch.setattr(edge_tpu, "find_library", lambda name: None)
    assert "no libedgetpu" in edge_tpu._check_device(context, None)[0].reason
    monkeypatch.setattr(edge_tpu, "find_library", lambda name: "libedgetpu.so.1")
    check = edge_tpu._check_device(context, None)[0]
    assert check.status == NOT_RUN and "no model_edgetpu.tflite" in check.reason
