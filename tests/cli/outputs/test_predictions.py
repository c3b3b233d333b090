"""Output of `predict`: a table on terminals, tab-separated lines for programs."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from kerasbert.cli.outputs import predictions
from kerasbert.console.tables import render
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.embedding import Embedding

SINGLE_LABEL = SingleLabel(("neg", "pos"))
RED = "\x1b[31mred\x1b[0m"


def prediction(text: str, label: str = "pos", score: float = 0.5) -> dict:
    return {"text": text, "label": label, "score": score, "probabilities": {label: score}}


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(predictions, "terminal_width", lambda stream: 80)


def test_control_characters_are_escaped_in_tables(terminal):
    table = render(predictions.format_predictions(SINGLE_LABEL, [prediction("a\nb \x9b2J", RED)]), 80)
    assert table.splitlines()[2].split("  ")[0] == "\\x1b[31mred\\x1b[0m"
    assert table.endswith("a b \\x9b2J")


def test_control_characters_are_escaped_in_lines():
    lines = render(predictions.format_predictions(SINGLE_LABEL, [prediction(f"{RED}\tx\r\ny\u202e", RED)]))
    assert lines == "\\x1b[31mred\\x1b[0m\t0.5000\t\\x1b[31mred\\x1b[0m x y\\u202e"


def test_vectors_remain_json():
    record = {"text": f"{RED}\x9b", "vector": [0.5]}
    line = render(predictions.format_predictions(Embedding(), [record]))
    assert json.loads(line) == record
    assert line.isprintable()


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\uff1dA1", "'\uff1dA1"),
        ("\t=A1", "'=A1"),
        ("a=b", "a=b"),
        ("-0.5", "-0.5"),
    ],
)
def test_formulas_are_quoted_on_request(cell, safe):
    records = [prediction(cell)]
    assert render(predictions.format_predictions(SINGLE_LABEL, records, csv_safe=True)).split("\t")[2] == safe
    assert "'" + cell not in render(predictions.format_predictions(SINGLE_LABEL, records))


def test_labels_of_a_folder_are_escaped(place, run, tmp_path):
    folder = Path(shutil.copytree(place.checkpoint, tmp_path / "folder"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "id2label": {"0": "a", "1": RED}}))
    done = run("inspect", folder)
    assert done.code == 0 and "a, \\x1b[31mred\\x1b[0m" in done.out and "\x1b" not in done.out
    exact = run("inspect", folder, "--json")
    assert json.loads(exact.out)["labels"] == ["a", RED] and "\x1b" not in exact.out


def test_errors_are_escaped(run):
    for arguments in (["predict", RED, "x"], [RED], ["predict", f"--{RED}"]):
        done = run(*arguments)
        assert done.code == 2 and "\x1b" not in done.err and "\\x1b[31mred" in done.err


def test_nan_predictions_fail(made, run, monkeypatch, tmp_path):
    from kerasbert.export.runtime.pipeline import Pipeline

    def nan_predictions(self, x, **settings):
        return [prediction(text, score=float("nan") if "bad" in text else 0.5) for text in x]

    monkeypatch.setattr(Pipeline, "predictions", nan_predictions)
    assert run("predict", made.file, "good film").code == 0
    done = run("predict", made.file, "good film", "bad film")
    assert done.code == 1 and "NaN or infinity for 1 of 2 texts, the first is number 1" in done.err
    assert "nan" in done.out


@pytest.mark.parametrize(
    ("values", "finite"),
    [
        ({"label": "a", "score": 0.5, "probabilities": {"a": 0.5}}, True),
        ({"label": "a", "score": 0.5, "probabilities": {"a": float("nan")}}, False),
        ({"entities": [{"score": float("inf")}]}, False),
        ({"vector": np.array([1.0, np.nan])}, False),
        ({"vector": np.array([1.0, 2.0]), "text": "nan"}, True),
    ],
)
def test_is_finite(values, finite):
    assert predictions.is_finite(values) == finite
