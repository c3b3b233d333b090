"""Did-you-mean suggestions."""

import pytest

from kerasbert.suggestions import nearest


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("--lr", ("--label-column", "--learning-rate"), "--learning-rate"),
        ("--bs", ("--batch-size", "--seed"), "--batch-size"),
        ("--output", ("--out", "--on"), "--out"),
        ("--max_rows", ("--max-rows",), "--max-rows"),
        ("learningrate", ("learning_rate", "label_column"), "learning_rate"),
        ("--epoch", ("--epochs",), "--epochs"),
        ("Headline", ("id", "headline"), "headline"),
        ("--banana", ("--epochs", "--out"), None),
    ],
)
def test_nearest_name(name, known, expected):
    assert nearest(name, known) == expected


def test_unknown_options_get_a_suggestion(run_lines):
    assert (
        run_lines("train", "--lr", "1e-5")
        == "error: no such option: --lr; did you mean --learning-rate? See `kerasbert train --help`."
    )
    assert "--output; did you mean --out" in run_lines("convert", "x", "--output", "y")
    assert "--model; FOLDER is an argument, give it without an option name" in run_lines("quantize", "--model", "x")
    assert "no such option: --banana. See" in run_lines("predict", "x", "--banana")


@pytest.fixture
def run_lines(capsys):
    from kerasbert.cli import main

    def last_line(*arguments):
        assert main(list(arguments)) == 2
        return capsys.readouterr().err.splitlines()[-1]

    return last_line
