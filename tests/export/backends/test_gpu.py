"""The GPU backend: what it makes of the accelerator's words, and, where there is a Vulkan device, the accelerator itself."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.export.backends import gpu
from kerasbert.export.backends.rules.gpu import LITERT_GPU
from kerasbert.export.backends.rules.operator_rules import operator_verdicts
from kerasbert.export.backends.subprocesses.gpu_log import GpuLog
from kerasbert.export.runtime.process import ProcessResult
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validator import validate

ADAPTER = (
    "INFO: Selected adapter: SwiftShader Device (Subzero), arch=swiftshader, vendor=google, backend=Vulkan, "
    "adapterType=CPU / Software\n"
)
REFUSED = """Following operations are not supported by GPU delegate:
GATHER: Only support 1D indices
STRIDED_SLICE: Slice does not support shrink_axis_mask parameter.
93 operations will run on the GPU, and the remaining 2 operations will run on the CPU.
"""
PHONE = ADAPTER.replace("SwiftShader Device (Subzero)", "Adreno 740").replace("arch=swiftshader", "arch=adreno")


def test_log_of_the_accelerator_is_parsed():
    said = GpuLog.of(ADAPTER + REFUSED)
    assert said.adapter == "SwiftShader Device (Subzero), Vulkan, CPU / Software" and said.architecture == "swiftshader"
    assert said.unsupported == (
        "GATHER: Only support 1D indices",
        "STRIDED_SLICE: Slice does not support shrink_axis_mask parameter.",
    )
    assert (said.on_gpu, said.on_cpu, said.missing) == (93, 2, False)
    assert GpuLog.of(ADAPTER).on_cpu is None
    assert GpuLog.of("No operations will run on the GPU, and all 12 operations will run on the CPU.").on_gpu == 0
    assert GpuLog.of("ERROR: No adapters found").missing


def test_faults_in_the_log_are_parsed():
    failed = (
        "E0000 23588 delegate_webgpu.cc:478] Failed to create litert::ml_drift::DelegateKernelLiteRt: INVALID_ARGUMENT: Shape mismatch\n"
        "=== Source Location Trace: ===\n"
    )
    assert GpuLog.of(ADAPTER + failed).fault == "INVALID_ARGUMENT: Shape mismatch"
    assert GpuLog.of(ADAPTER + REFUSED).fault == ""
    lines = "".join(f"ADD: number {number}\n" for number in (1, 1, 2, 3, 4, 5, 6))
    many = GpuLog.of(
        f"Following operations are not supported by GPU delegate:\n{lines}3 operations will run on the GPU"
    )
    assert many.unsupported_summary == "ADD: number 1; ADD: number 2; ADD: number 3; ADD: number 4; and 2 more"


@pytest.fixture
def pretend(monkeypatch, float_file, helpers):
    """Validates with a child that says this, and leaves these outputs."""

    def run(log: str, outputs: dict | None = None, status: int | None = 0):
        def child(module, arguments, seconds, environment):
            if outputs is not None:
                with np.load(arguments[1]) as given:
                    found = helpers.run_rows(arguments[0], dict(given))
                own = {f"output {name}": values for name, values in found.items()}
                np.savez(arguments[2], seconds=np.ones(6), **{**own, **outputs})
            return ProcessResult(status, log, seconds)

        monkeypatch.setattr(gpu, "run_module", child)
        report = validate(float_file, against=float_file, data=helpers.packed_rows(6), on=["gpu"])
        return {check.name: check for check in report.checks}

    return run


def test_a_fully_accelerated_file_passes(pretend, float_file):
    checks = pretend(ADAPTER, {"fully_accelerated": True})
    assert checks["gpu-strict"].status == checks["gpu-mixed"].status == "passed"
    assert "SwiftShader" in checks["gpu-strict"].device
    assert checks["gpu-strict"].ops == {"gpu": {"all": len(ModelFile.read(float_file).subgraphs[0].operators)}}


def test_strict_needs_every_operator_on_the_gpu(pretend):
    checks = pretend(ADAPTER + REFUSED, {"fully_accelerated": False})
    assert checks["gpu-strict"].status == "failed" and "not all operators" in checks["gpu-strict"].reason
    assert checks["gpu-mixed"].status == "passed" and "2 on the CPU: GATHER: Only support" in checks["gpu-mixed"].reason


@pytest.mark.parametrize(
    "split, expected",
    [
        (
            "No operations will run on the GPU, and all 95 operations will run on the CPU.",
            "no operator ran on the GPU: GATHER: 1D",
        ),
        ("", "did not say"),
    ],
)
def test_mixed_needs_some_operators_on_the_gpu(pretend, split, expected):
    log = f"{ADAPTER}Following operations are not supported by GPU delegate:\nGATHER: 1D\n{split}\n"
    check = pretend(log, {"fully_accelerated": False})["gpu-mixed"]
    assert check.status == "not run" and expected in check.reason and "SwiftShader" in check.device


def test_wrong_numbers_fail(pretend):
    wrong = {"fully_accelerated": True, "output probabilities": np.full((6, 3), 1 / 3, np.float32)}
    checks = pretend(ADAPTER, wrong)
    assert checks["gpu-strict"].status == "failed" and "off by up to" in checks["gpu-strict"].reason


@pytest.mark.long
def test_a_16_bit_device_has_a_larger_tolerance(pretend, float_file, helpers):
    exact = helpers.run_rows(float_file, helpers.packed_rows(6))["probabilities"]
    near = {"fully_accelerated": True, "output probabilities": exact + np.float32(3e-3)}
    assert pretend(PHONE, near)["gpu-strict"].status == "passed"
    assert pretend(ADAPTER, near)["gpu-strict"].status == "failed"


@pytest.mark.parametrize(
    "log, status, expected",
    [
        ("ERROR: No adapters found", 1, "no Vulkan device"),
        ("Segmentation fault", -11, "no Vulkan device was named; killed by SIGSEGV"),
    ],
)
def test_without_an_adapter_nothing_is_run(pretend, log, status, expected):
    checks = pretend(log, None, status)
    assert [checks[name].status for name in ("gpu-strict", "gpu-mixed")] == ["not run"] * 2
    assert expected in checks["gpu-strict"].reason


@pytest.mark.parametrize("status, expected", [(-6, "killed by SIGABRT"), (None, "the time limit"), (1, "exit code 1")])
@pytest.mark.long_cases
def test_a_crash_fails_with_its_last_message(pretend, status, expected):
    checks = pretend(ADAPTER + "F0000 Check failed: !IsInput(consumer, value)", None, status)
    assert checks["gpu-strict"].status == "failed"
    assert expected in checks["gpu-strict"].reason and "IsInput" in checks["gpu-strict"].reason


def test_a_run_that_takes_too_long_says_so(pretend):
    checks = pretend(ADAPTER + REFUSED, None, None)
    assert "the time limit" in checks["gpu-mixed"].reason


@pytest.mark.long
def test_an_error_in_one_backend_does_not_stop_the_others(monkeypatch, float_file, helpers):
    monkeypatch.setattr(gpu, "run_module", lambda *_: 1 / 0)
    report = validate(float_file, against=float_file, data=helpers.packed_rows(4), on=["gpu", "cpu"])
    by_name = {check.name: check for check in report.checks}
    assert by_name["gpu"].status == "failed" and "ZeroDivisionError" in by_name["gpu"].reason
    assert by_name["cpu-xnnpack"].status == "passed"


@pytest.mark.long
def test_16_bits_are_a_check_of_their_own(pretend, monkeypatch):
    monkeypatch.setattr(type(gpu.LAVAPIPE), "ready", property(lambda self: False))
    check = pretend(ADAPTER, {"fully_accelerated": True})["gpu-half"]
    assert check.status == "not run" and "kerasbert setup lavapipe" in check.reason
    assert "already" in pretend(PHONE, {"fully_accelerated": True})["gpu-half"].reason
    monkeypatch.setattr(type(gpu.LAVAPIPE), "ready", property(lambda self: True))
    monkeypatch.setattr(type(gpu.LAVAPIPE), "variables", {"VK_ICD_FILENAMES": "lavapipe"})
    check = pretend(ADAPTER, {"fully_accelerated": False})["gpu-half"]
    assert check.status == "failed" and "not all operators" in check.reason


@pytest.mark.long
def test_the_cpu_helps_in_16_bits_where_the_accelerator_lacks_an_operator(pretend, monkeypatch):
    monkeypatch.setattr(type(gpu.LAVAPIPE), "ready", property(lambda self: True))
    monkeypatch.setattr(type(gpu.LAVAPIPE), "variables", {"VK_ICD_FILENAMES": "lavapipe"})
    check = pretend(ADAPTER + REFUSED, {"fully_accelerated": False})["gpu-half"]
    assert check.status == "passed" and "2 on the CPU: GATHER: Only support" in check.reason


@pytest.mark.environment
@pytest.mark.parametrize("recipe, most", [("float32", 1e-5), (None, 1e-2)])
def test_a_gpu_file_is_fully_accelerated(trained, tiny, tmp_path, recipe, most):
    texts, labels = tiny.rows(12, seed=4)
    made = kb.export.convert(trained, recipe=recipe, target="gpu")
    assert made.metadata.recipe == (recipe or "float16")
    file = made.save(tmp_path / "gpu.tflite")
    report = validate(file, against=trained, data=(texts, labels), on=["gpu", "gpu-opencl"])
    checks = {check.name: check for check in report.checks}
    assert checks["gpu-opencl rules"].status == "passed", checks["gpu-opencl rules"].reason
    if checks["gpu-strict"].status == "not run":
        pytest.skip(checks["gpu-strict"].reason)
    assert checks["gpu-strict"].status == "passed", checks["gpu-strict"].reason
    assert max(output.max_error for output in checks["gpu-strict"].outputs) <= most
    half = checks["gpu-half"]
    if half.status != "not run":
        assert half.status == "passed" and max(output.max_error for output in half.outputs) <= 5e-3


@pytest.mark.environment
def test_a_cpu_file_is_not_fully_accelerated(trained, tiny, tmp_path):
    texts, _ = tiny.rows(4, seed=4)
    file = kb.export.convert(trained, recipe="float32", target="cpu").save(tmp_path / "cpu.tflite")
    checks = {
        check.name: check for check in validate(file, against=trained, data=texts, on=["gpu", "gpu-opencl"]).checks
    }
    assert checks["gpu-opencl rules"].status == "failed" and "indices of rank 2" in checks["gpu-opencl rules"].reason
    if checks["gpu-strict"].status == "not run":
        pytest.skip(checks["gpu-strict"].reason)
    assert checks["gpu-strict"].status == "failed" and "GATHER" in checks["gpu-strict"].reason


@pytest.mark.parametrize("recipe", ["weight_only_wi8", "static_wi8_ai16"])
def test_recipes_that_the_accelerator_cannot_run_are_refused(trained, recipe):
    with pytest.raises(
        kb.errors.KerasBertError, match=rf"'gpu' can run \(float32, float16, .*received '{recipe}': its acc"
    ):
        kb.export.convert(trained, target="gpu", recipe=recipe)


def test_the_command_refuses_gpu_recipes_before_loading_the_model(capsys, tmp_path):
    from kerasbert.cli import main

    out = tmp_path / "made.tflite"
    assert (
        main(["convert", str(tmp_path / "none"), "--target", "gpu", "--recipe", "weight_only_wi8", "-o", str(out)]) == 2
    )
    assert "received 'weight_only_wi8'" in capsys.readouterr().err and not out.exists()


@pytest.mark.environment
@pytest.mark.parametrize("recipe", ["float16", "dynamic_wi8_afp32", "dynamic_wi4_afp32", "static_wi8_ai8"])
def test_the_forecast_matches_the_accelerator(trained, tiny, tmp_path, recipe):
    texts, _ = tiny.rows(40, seed=4)
    calibration = texts[8:] if recipe.startswith("static") else None
    for target, refused in (("gpu", set()), ("cpu", {"GATHER"})):
        made = kb.export.convert(trained, recipe=recipe, target=target, calibration=calibration)
        file = made.save(tmp_path / f"{target}.tflite")
        found = operator_verdicts(ModelFile.read(file), LITERT_GPU)
        assert {verdict.operator for verdict in found if verdict.unsupported_reason} == refused
        report = validate(file, against=file, data=texts[:4], on=["gpu"], tolerance=1.0)
        strict = next(check for check in report.checks if check.name == "gpu-strict")
        if strict.status == "not run":
            pytest.skip(strict.reason)
        assert (strict.status == "failed") is bool(refused) and all(name in strict.reason for name in refused)


def test_integers_only_need_a_model_without_layer_norms(trained, tiny):
    with pytest.raises(kb.errors.KerasBertError, match="ends the accelerator's process"):
        kb.export.convert(trained, target="gpu", integer_only=True, calibration=tiny.rows(8)[0])


@pytest.mark.parametrize("target", ["gpu", "web"])
def test_resizable_gpu_files_are_refused(trained, target):
    with pytest.raises(kb.errors.KerasBertError, match=f"a number of tokens, or several, for the target '{target}'"):
        kb.export.convert(trained, target=target, length="resizable")
