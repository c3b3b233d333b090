"""Tables of the zoo's measurements."""

from dataclasses import replace

from kerasbert.zoo import tables
from kerasbert.zoo.catalog import FILE, ZooModel
from kerasbert.zoo.results import Result

MODEL = ZooModel("tone", FILE, "classification", "a file", "small-en", "accuracy", "SST-2 dev")
RESULT = Result(
    "tone", "int8", "SST-2 dev", "accuracy", 0.85, "", "", "xnnpack", "a CPU", "2026-11-25", "abc", "python -m x"
)


def test_quality_of_a_file_is_that_on_xnnpack():
    lines = [replace(RESULT, backend="gpu", value=0.84, date="2026-12-01"), RESULT]
    assert tables.rows([MODEL], lines) == [("tone", "classification", "0.850 accuracy, SST-2 dev", "-", "-")]
    assert tables.records([MODEL], lines)[0]["quality"] == 0.85


def test_what_was_not_measured_is_a_dash():
    assert tables.rows([MODEL], [replace(RESULT, backend="gpu")])[0][2:] == ("-", "-", "-")
    assert tables.records([MODEL], [])[0]["quality"] is None


def test_share_of_a_file_is_the_lowest_of_its_backends(monkeypatch):
    monkeypatch.setattr(tables, "models", lambda: (MODEL,))
    lines = [
        replace(RESULT, file="float", backend="keras", value=0.86), RESULT, replace(RESULT, backend="wasm", value=0.84),
        replace(RESULT, metric="share of accuracy", value=0.988), replace(RESULT, metric="share of accuracy", value=0.977, backend="wasm"),
    ]  # fmt: skip
    row = tables.files_table(lines).splitlines()[-1]
    assert row == "| tone | SST-2 dev | accuracy | 0.8600 | 0.8500 | - | - | - | 0.8400 | 97.7 % |"
