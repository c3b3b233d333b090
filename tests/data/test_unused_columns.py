"""Columns that are not read although they look as if they should be, and columns that are there twice."""

import json

import pytest

from kerasbert.console.strictness import note_once, strict
from kerasbert.data import read_table
from kerasbert.errors import KerasBertError

LONG = "a longer text with number"


@pytest.fixture(autouse=True)
def notes_again():
    note_once.cache_clear()


@pytest.fixture(params=["a.csv", "a.jsonl"])
def write(request, tmp_path):
    def write(names, make):
        path, rows = tmp_path / request.param, [make(n) for n in range(6)]
        if path.suffix == ".csv":
            path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
        else:
            path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
        return path

    return write


def test_a_second_text_that_is_not_read_is_noted_once(write, capsys):
    path = write(["id", "text", "body", "label"], lambda n: [f"{n}", f"title {n}", f"{LONG} {n}", "ab"[n % 2]])
    for _ in range(2):
        assert read_table(path).pairs is None
    assert capsys.readouterr().err == (
        f"note: {path}: left out the column of texts 'body' (read with --text-column or --pair-column)\n"
    )
    with strict(), pytest.raises(KerasBertError, match="expected columns of texts that are read, received the column"):
        read_table(path)
    note_once.cache_clear()
    assert read_table(path, text="text").texts[0] == "title 0" and read_table(path, pair="body").pairs[0] == f"{LONG} 0"
    assert not capsys.readouterr().err


def test_a_second_label_is_noted(write, capsys):
    path = write(["text", "score", "label"], lambda n: [f"{n}", f"{n}", "ab"[n % 2]])
    read_table(path)
    assert "left out the column of labels 'score' (read with --label-column)" in capsys.readouterr().err
    note_once.cache_clear()
    read_table(path, label="score")
    assert not capsys.readouterr().err


def test_other_columns_are_not_noted(write, capsys):
    read_table(
        write(
            ["id", "text", "source", "label"], lambda n: [f"{n}", f"{LONG} {n}", "one of the same texts", "ab"[n % 2]]
        )
    )
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"text": "a"}', '{"text": "b", "label": "x"}'], "line 1: expected 'label' in every object, received none"),
        (['{"text": "a", "label": NaN}'], "line 1: expected 'label' as a name or a finite number, received nan"),
    ],
)
def test_labels_of_some_objects_only_raise(tmp_path, lines, message):
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(KerasBertError, match=message):
        read_table(tmp_path / "a.jsonl")


@pytest.mark.parametrize("settings", [{}, {"text": "text"}, {"label": "label"}])
def test_a_used_column_that_is_there_twice_raises(tmp_path, settings):
    names = "text,text,label" if "label" not in settings else "text,label,label"
    (tmp_path / "a.csv").write_text(f"{names}\nx,y,z\n")
    with pytest.raises(KerasBertError, match="expected one column '(text|label)', received several in the columns"):
        read_table(tmp_path / "a.csv", **settings)
    assert read_table(tmp_path / "a.csv", text="0", label="2").labels == ["z"]
