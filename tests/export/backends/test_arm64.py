"""The aarch64 runtime under QEMU, where it was set up, and what is compared there."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.export.backends import arm64
from kerasbert.export.backends.operators_alone import extract_integer_dense
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.runtime.process import ProcessResult
from kerasbert.export.validator import validate


@pytest.fixture(scope="module")
def static_file(static_model, tmp_path_factory):
    return kb.export.convert(static_model).save(tmp_path_factory.mktemp("arm64") / "static.tflite")


def test_extracted_dense_layers_run(static_file):
    alone = extract_integer_dense(static_file.read_bytes())
    assert len(alone.inputs) >= 9  # four a block, and the head
    model = open_model(alone.content, kernels="reference")
    draw = np.random.default_rng(0)
    rows = {name: draw.integers(-128, 128, shape, np.int8) for name, shape in alone.inputs.items()}
    outputs = model.run(rows)
    assert set(outputs) == {name.replace("input", "output") for name in rows}
    assert all(np.unique(values).size > 10 for name, values in outputs.items() if values.size > 100)


def test_a_float_file_has_no_integer_dense_layers(float_file):
    assert extract_integer_dense(float_file.read_bytes()) is None


def test_arm64_is_not_run_without_its_environment(monkeypatch, float_file, helpers):
    monkeypatch.setattr(type(arm64.ARM64), "ready", property(lambda self: False))
    report = validate(float_file, against=float_file, data=helpers.packed_rows(2), on="arm64")
    found = [check for check in report.checks if check.name.startswith("arm64")]
    assert len(found) == 4 and all(check.status == "not run" for check in found)
    assert "kerasbert setup arm64" in found[0].reason


def test_a_crash_on_a_processor_fails(monkeypatch, float_file, helpers):
    monkeypatch.setattr(type(arm64.ARM64), "ready", property(lambda self: True))
    monkeypatch.setattr(
        arm64, "run_command", lambda *_: ProcessResult(-4, "qemu: uncaught target signal 4 (Illegal instruction)", 1.0)
    )
    report = validate(float_file, against=float_file, data=helpers.packed_rows(2), on="arm64")
    found = {check.name: check for check in report.checks}
    assert found["arm64 cortex-a76"].status == "failed" and "Illegal instruction" in found["arm64 cortex-a76"].reason
    assert found["arm64 operators"].status == "not run"


@pytest.mark.environment
def test_file_on_emulated_phone_processors(static_file, static_model, tiny):
    texts, labels = tiny.rows(2, seed=4)
    found = {
        check.name: check
        for check in validate(static_file, against=static_model, data=(texts, labels), on="arm64").checks
    }
    if found["arm64 operators"].status == "not run":
        pytest.skip(found["arm64 operators"].reason)
    assert found["arm64 operators"].status == "passed", found["arm64 operators"].reason
    assert "same bits" in found["arm64 operators"].reason
    for name in ("arm64 cortex-a53", "arm64 cortex-a76", "arm64 max,sme=off"):
        assert found[name].status == "passed", found[name].reason
