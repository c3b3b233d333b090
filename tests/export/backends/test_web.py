"""The web backend: what it makes of a page's answer, and, where Chromium is, the page itself."""

import json

import numpy as np
import pytest

from kerasbert.export.backends import tflite_2_14, web
from kerasbert.export.backends.environments import environment as environments
from kerasbert.export.runtime.process import ProcessResult
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validator import validate


@pytest.fixture
def pretend(monkeypatch, float_file, helpers):
    """Validates in a browser that answers this beside the outputs of the CPU."""
    monkeypatch.setattr(web, "_missing_program", lambda: "")
    monkeypatch.setattr(type(web.WEB), "ready", True)
    monkeypatch.setattr(web, "find_browser", lambda: "chromium")

    def run(said: dict | None = None, log: str | None = None, status: int | None = 0):
        def child(command, seconds, environment=None):
            asked = json.loads(command[2])
            with open(asked["rows"], encoding="utf-8") as file:
                given = json.load(file)["inputs"]
            rows = {name: np.asarray(values, np.int32) for name, values in given.items()}
            found = helpers.run_rows(asked["model"], rows)["probabilities"]
            answer = {
                "outputs": {"probabilities": {"shape": [1, 3], "rows": found.tolist()}},
                "seconds": [1.0] * len(found),
                "adapter": "google swiftshader" if asked["accelerator"] == "webgpu" else "",
                "accelerated": True,
                "browser": "Chromium 1",
                "log": "",
            }
            return ProcessResult(
                status, log if log is not None else f"noise\nRESULT {json.dumps(answer | (said or {}))}\n", seconds
            )

        monkeypatch.setattr(web, "run_command", child)
        report = validate(float_file, against=float_file, data=helpers.packed_rows(5), on=["web"])
        return {check.name: check for check in report.checks}

    return run


def test_webassembly_and_webgpu_pass(pretend, float_file):
    checks = pretend()
    assert checks["web-wasm"].status == checks["web-webgpu"].status == "passed"
    assert checks["web-wasm"].device == "Chromium 1" and checks["web-webgpu"].device == "Chromium 1, google swiftshader"
    operators = len(ModelFile.read(float_file).subgraphs[0].operators)
    assert checks["web-webgpu"].ops == {"gpu": {"all": operators}}


@pytest.mark.parametrize(
    "split, outcome, expected",
    [
        ("7 operations will run on the GPU, and the remaining 1 operations", "passed", "7 operators on the GPU, 1 on"),
        (
            "No operations will run on the GPU, and all 8 operations",
            "not run",
            "no operator ran on the GPU: GATHER: 1D",
        ),
        ("", "not run", "did not say"),
    ],
)
@pytest.mark.long_cases
def test_webgpu_needs_some_operators_on_the_gpu(pretend, split, outcome, expected):
    log = f"Following operations are not supported by GPU delegate:\nGATHER: 1D\n{split} will run on the CPU.\n"
    check = pretend({"accelerated": False, "log": log})["web-webgpu"]
    assert check.status == outcome and expected in check.reason


def test_wrong_numbers_fail(pretend):
    checks = pretend({"outputs": {"probabilities": {"shape": [1, 3], "rows": [[0.2, 0.3, 0.5]] * 5}}})
    assert checks["web-wasm"].status == "failed" and "off by up to" in checks["web-wasm"].reason


@pytest.mark.parametrize(
    "said, log, status, outcome, expected",
    [
        ({"missing": "no WebGPU adapter"}, None, 0, "not run", "no WebGPU adapter"),
        ({"error": "Element type INT8 is not supported"}, None, 0, "failed", "INT8"),
        (None, "Target page crashed", 1, "failed", "exit code 1: Target page crashed"),
        (None, "", None, "failed", "the time limit"),
    ],
)
@pytest.mark.long_cases
def test_missing_adapters_errors_and_crashes(pretend, said, log, status, outcome, expected):
    check = pretend(said, log, status)["web-webgpu"]
    assert check.status == outcome and expected in check.reason


def test_missing_environments_are_not_run(monkeypatch, tmp_path, float_file, helpers):
    monkeypatch.setenv(environments.HOME_VARIABLE, str(tmp_path))
    report = validate(float_file, against=float_file, data=helpers.packed_rows(2), on=["web", "tflite-2.14"])
    assert {check.status for check in report.checks[1:]} == {"not run"}
    assert "kerasbert setup tflite-2.14" in report.checks[-1].reason
    assert report.verdict == "incomplete"


def test_missing_programs_are_named(monkeypatch):
    monkeypatch.delenv(web.BROWSER_VARIABLE, raising=False)
    monkeypatch.setattr(web.shutil, "which", lambda name: "/bin/node" if name == "node" else None)
    assert "no Chromium" in web._missing_program()
    monkeypatch.setattr(web.shutil, "which", lambda name: None)
    assert "no node" in web._missing_program() and "no node" in web.missing_part()


def test_the_missing_environment_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(web, "_missing_program", lambda: "")
    monkeypatch.setenv(environments.HOME_VARIABLE, str(tmp_path))
    assert "kerasbert setup web" in web.missing_part()
    monkeypatch.setattr(type(web.WEB), "ready", True)
    assert web.missing_part() == ""


def test_a_failed_installation_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv(environments.HOME_VARIABLE, str(tmp_path))
    made = environments.NodeEnvironment("web", "a test", ("a@1",))
    monkeypatch.setattr(environments.shutil, "which", lambda name: "/bin/npm")
    monkeypatch.setattr(environments, "run_command", lambda command, seconds: ProcessResult(1, "ERR! 404", seconds))
    with pytest.raises(environments.KerasBertError, match="exit code 1: ERR! 404"):
        made.make(lambda line: None)
    assert not made.ready and not made.folder.exists()
    monkeypatch.setattr(environments, "run_command", lambda command, seconds: ProcessResult(0, "", seconds))
    made.make(lambda line: None)
    assert made.ready and not environments.NodeEnvironment("web", "a test", ("a@2",)).ready


@pytest.mark.environment
def test_file_in_chromium_and_on_tflite_2_14(float_file, helpers):
    report = validate(float_file, against=float_file, data=helpers.packed_rows(5), on=["web", "tflite-2.14"])
    checks = {check.name: check for check in report.checks[1:]}
    if all(check.status == "not run" for check in checks.values()):
        pytest.skip("; ".join(check.reason for check in checks.values()))
    for name in ("web-wasm", tflite_2_14.NAME):
        assert checks[name].status in ("passed", "not run"), checks[name].reason
    # The file multiplies a tensor with itself, over which the GPU accelerator ends its process.
    if checks["web-webgpu"].status != "not run":
        assert checks["web-webgpu"].status == "failed" and "IsInput" in checks["web-webgpu"].reason
