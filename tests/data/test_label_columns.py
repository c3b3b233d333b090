"""A column of 0 and 1 for each label."""

import json

import pytest

from kerasbert.data import read_table
from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor, read_for

NAMES = ("toxic", "severe_toxic", "insult")
ROWS = [("a", 1, 0, 1), ("b, c", 0, 0, 0), ("d", 0, 1, 0)]
ENCODED = [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


@pytest.fixture(params=["a.csv", "a.tsv", "a.jsonl"])
def jigsaw(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix == ".jsonl":
        records = (
            dict(zip(("id", "comment_text", *NAMES), (f"x{i}", *row), strict=True)) for i, row in enumerate(ROWS)
        )
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path
    mark = "\t" if path.suffix == ".tsv" else ","
    quote = "" if path.suffix == ".tsv" else '"'
    lines = [mark.join(("id", "comment_text", *NAMES))]
    lines += [mark.join((f"x{i}", f"{quote}{text}{quote}", *map(str, flags))) for i, (text, *flags) in enumerate(ROWS)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_columns_of_zeros_and_ones_are_found_with_a_note(jigsaw, capsys):
    table = read_for("multi_label", jigsaw)
    assert table.texts == ["a", "b, c", "d"] and table.label_columns == NAMES
    assert make_processor("multi_label", NAMES).numbers(table.y).tolist() == ENCODED
    assert "the labels are the columns of 0 and 1: toxic, severe_toxic, insult; name others" in capsys.readouterr().err
    assert "labels insult: 1, severe_toxic: 1, toxic: 1" in table.describe()


@pytest.mark.parametrize("label", ["insult, toxic", ["insult", "toxic"], ("4", "2")])
def test_label_columns_can_be_named(jigsaw, label, capsys):
    table = read_table(jigsaw, label=label)
    assert table.label_columns == ("insult", "toxic")
    assert make_processor("multi_label", ("insult", "toxic")).numbers(table.y).tolist() == [[1, 1], [0, 0], [0, 0]]
    assert not capsys.readouterr().err


def test_a_label_without_a_text_keeps_its_place(tmp_path):
    (tmp_path / "a.csv").write_text("text,a,b\nx,0,1\ny,0,0\n")
    table = read_for("multi_label", tmp_path / "a.csv")
    assert table.label_columns == ("a", "b") and "labels a: 0, b: 1" in table.describe()


def test_a_name_with_a_comma_is_one_column(tmp_path):
    (tmp_path / "a.csv").write_text('text,"a,b"\nx,y\n')
    assert read_table(tmp_path / "a.csv", label="a,b").labels == ["y"]


@pytest.mark.parametrize(
    ("content", "label", "message"),
    [
        ("text,a,b\nx,0,1\ny,-1,0\n", "a,b", "line 3: expected 0 or 1 in the label column 'a', received '-1'"),
        ("text,a,b\nx,0,\n", "a,b", "line 2: expected 0 or 1 in the label column 'b', received ''"),
        ("text,a,b\nx,0,1\n", "a,c", "expected a column 'c'"),
        ("text,a,b\nx,0,1\n", "a,a", "expected each column of a label once"),
    ],
)
def test_columns_that_are_no_labels_raise(tmp_path, content, label, message):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(KerasBertError, match=message):
        read_table(tmp_path / "a.csv", label=label)


def test_other_columns_are_no_labels(tmp_path):
    (tmp_path / "a.csv").write_text("text,a,n\nx,0,7\ny,1,1\n")
    assert read_for("multi_label", tmp_path / "a.csv").labels is None
    (tmp_path / "b.csv").write_text("text,labels,a,b\nx,u|v,0,1\n")
    assert read_for("multi_label", tmp_path / "b.csv").labels == ["u|v"]
    (tmp_path / "c.csv").write_text("text,a,b\nx,0,1\n")
    assert read_for("single_label", tmp_path / "c.csv").labels is None


def test_a_named_separator_splits_labels(tmp_path):
    (tmp_path / "a.csv").write_text("text,labels\nx,a b~c\ny,c\nz,\n")
    table = read_for("multi_label", tmp_path / "a.csv", label_separator="~")
    assert table.labels == ['["a b", "c"]', '["c"]', "[]"]
    assert type(make_processor("multi_label")).label_names(table.y) == ("a b", "c")
    with pytest.raises(KerasBertError, match="expected a label separator of one character"):
        read_table(tmp_path / "a.csv", label_separator="ab")
    for task in ("single_label", "tagging", "multiple_choice", "masked_lm"):
        with pytest.raises(KerasBertError, match="expected no label separator"):
            read_for(task, tmp_path / "a.csv", label_separator=";")


def test_the_detected_separator_is_noted(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("text,labels\nx,mobile; refund\ny,mobile\n")
    table = read_for("multi_label", tmp_path / "a.csv")
    assert type(make_processor("multi_label")).label_names(table.y) == ("mobile", "refund")
    assert "labels are separated by ';'" in capsys.readouterr().err


@pytest.mark.parametrize("label", ["[0, 1, 0]", '["a", "b"]', "['a']", "[1 0]"])
def test_lists_are_no_single_labels(label):
    with pytest.raises(KerasBertError, match="row 1: expected one label, received the list .*multi-label"):
        type(make_processor("single_label")).label_names(["a", label])


def test_an_object_is_no_label(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "x", "labels": {"toxic": 1}}\n')
    with pytest.raises(KerasBertError, match="line 1: expected 'labels' as a name, .*received an object with toxic"):
        read_table(tmp_path / "a.jsonl")
