"""Who runs which operator: of a file, and in the page that says it of all."""

from pathlib import Path

import pytest

import kerasbert as kb
from kerasbert.export.backends.coverage import placement
from kerasbert.export.backends.rules.documentation import ON_XNNPACK, operator_table, with_operator_table
from kerasbert.export.backends.rules.gpu import LITERT_GPU
from kerasbert.export.backends.rules.operator_rules import operator_verdicts, summarize
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite.model_file import ModelFile

PAGE = Path(__file__).parents[4] / "docs" / "concepts" / "targets.md"


def test_placement_lists_every_operator(float_file, resizable_file):
    found = placement(float_file)
    by_name = {operator.operator: operator for operator in found.operators}
    assert sum(operator.calls for operator in found.operators) == len(ModelFile.read(float_file).subgraphs[0].operators)
    assert "xnnpack" in by_name["SOFTMAX"].backends["cpu"] and by_name["GATHER"].backends["cpu"] == "1 builtin"
    assert by_name["GATHER"].backends["gpu"] == "1: indices of rank 2, not 1"
    assert (
        "indices of rank 2" in by_name["GATHER"].backends["gpu-opencl"]
        and by_name["GATHER"].backends["edge-tpu"] == "1: no such operator"
    )
    assert "works on float32" in by_name["SOFTMAX"].backends["edge-tpu"]
    assert "edge-tpu (forecast)" in found.table() and found.as_dict()["operators"][0]["calls"] >= 1
    assert "a shape that is not fixed" in placement(resizable_file).table()


def test_the_documented_table_is_current():
    assert with_operator_table(PAGE.read_text("utf-8")) == PAGE.read_text("utf-8"), (
        "run python -m kerasbert.export.backends.rules.documentation docs/concepts/targets.md"
    )
    assert "| GELU | yes | yes | yes | - |" in operator_table()


@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.long_cases
def test_delegated_operators_are_in_the_table(trained, static_model, target, tmp_path):
    made = kb.export.convert(static_model if target == "cpu" else trained, target=target)
    path = made.save(tmp_path / "made.tflite")
    assert set(open_model(path).ops_by_backend["xnnpack"]) <= ON_XNNPACK
    if target == "gpu":
        assert not summarize(operator_verdicts(ModelFile.read(path), LITERT_GPU))


def test_inspect_targets_prints_the_placement(float_file, capsys, tmp_path):
    from kerasbert.cli import main

    assert main(["inspect", str(float_file), "--targets"]) == 0
    assert "gpu-opencl (rules)" in capsys.readouterr().out
    assert main(["inspect", str(tmp_path), "--targets"]) == 2
    assert "expected a .tflite file for --targets" in capsys.readouterr().err
