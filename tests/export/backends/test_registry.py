"""The registry of backends: one value each, and adding one takes its module and its line."""

import dataclasses
import importlib
import json
import sys
import types

import numpy as np
import pytest

from kerasbert.cli import main
from kerasbert.errors import KerasBertError
from kerasbert.export import validate
from kerasbert.export.backends.environments import known
from kerasbert.export.backends.environments.arm64 import PROCESSORS
from kerasbert.export.backends.environments.environment import Environment, PythonEnvironment
from kerasbert.export.backends.registry import ALL, BACKENDS, Backend, list_backends, select_backends
from kerasbert.export.validation.context import BackendResult

TOY = Backend("toy", "a toy", "toy_backend", runs_every_row=True)


def run_toy(context):
    """A backend's function as short as it can be: the outputs of the model that is open already."""
    rows = np.arange(len(context.examples))
    outputs, seconds = context.run("toy", context.model, rows)
    return BackendResult([context.make_check("toy", rows, outputs, seconds, device="a box")], outputs)


@pytest.fixture
def toy(monkeypatch):
    """Adds a backend: a module, and its line in the registry."""
    monkeypatch.setitem(sys.modules, "toy_backend", types.SimpleNamespace(run_checks=run_toy))
    monkeypatch.setitem(BACKENDS, "toy", TOY)


@pytest.fixture
def archive(float_file, helpers, tmp_path):
    rows = helpers.packed_rows(160)
    outputs = helpers.run_rows(float_file, rows)
    path = tmp_path / "reference.npz"
    np.savez(path, **rows, **outputs, labels=outputs["probabilities"].argmax(1))
    return path


def test_a_new_backend_reaches_the_report(toy, float_file, archive, tmp_path):
    page = tmp_path / "report.html"
    report = validate(float_file, against=archive, on=["toy"], report=page)
    assert report.ok and [check.name for check in report.checks] == ["signature", "toy"]
    assert report.checks[1].metrics[0].name == "accuracy" and report.details.backend == "toy"
    assert "toy: on a box" in report.table() and list(report.samples) == ["toy: probabilities"]
    assert json.loads(report.json())["checks"][1]["name"] == "toy"
    assert "toy" in page.read_text("utf-8")


def test_a_new_backend_is_known_to_the_command(toy, float_file, archive, capsys):
    assert main(["validate", str(float_file), "--against", str(archive), "--on", "cpu,toy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["checks"][-1]["name"] == "toy"
    assert main(["validate", str(float_file), "--against", str(archive), "--on", "npu"]) == 2
    assert "toy, all, received 'npu'" in capsys.readouterr().err
    assert "toy (a toy)" in list_backends()


def test_a_backend_that_runs_every_row_lets_others_run_a_sample(toy, int8_file, archive):
    sampled = {check.name: check.status for check in validate(int8_file, against=archive, on=["toy", "cpu"]).checks}
    assert sampled["cpu-reference"] == "passed"


def test_without_its_environment_a_backend_is_not_run(toy, monkeypatch, float_file, archive, tmp_path):
    monkeypatch.setenv("KERASBERT_HOME", str(tmp_path))
    monkeypatch.setitem(known.ENVIRONMENTS, "box", PythonEnvironment("box", "a toy", ("box==1",)))
    monkeypatch.setitem(BACKENDS, "toy", dataclasses.replace(TOY, environment="box"))
    report = validate(float_file, against=archive, on=["toy"])
    assert report.verdict == "incomplete"
    assert report.checks[1].reason == "no environment with box==1: make it with `kerasbert setup box`"


def test_a_backend_may_stay_out_of_all(toy, monkeypatch):
    assert select_backends([ALL])[-1] is TOY
    monkeypatch.setitem(BACKENDS, "toy", dataclasses.replace(TOY, in_all=False))
    assert "toy" not in [backend.name for backend in select_backends(ALL)]
    assert "toy" in [backend.name for backend in select_backends([ALL, "toy"])]


@pytest.mark.parametrize("names", [[], ["cpu", "npu"], ["all", "npu"]])
def test_unknown_names_are_refused(names):
    with pytest.raises(KerasBertError, match="expected backends among cpu, .*, all, received"):
        select_backends(names)


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_every_backend_has_what_its_line_names(backend):
    assert callable(getattr(importlib.import_module(backend.module), backend.function))
    assert backend.required_environment is None or isinstance(backend.required_environment, Environment)
    assert not backend.rules or callable(importlib.import_module(backend.rules).forecast)


def test_checks_of_processors_are_those_of_their_environment():
    names = BACKENDS["arm64"].check_names
    assert names == (*(f"arm64 {processor.name}" for processor in PROCESSORS), "arm64 operators")
