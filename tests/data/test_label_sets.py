"""Labels of multi-label rows: names, label numbers, and 0 and 1 for each label, from files and in Python."""

import json

import numpy as np
import pytest

from kerasbert.data.label_sets import LabelRows, detect_separator
from kerasbert.data.labels import LabelSet
from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor, read_for

NAMES = ("toxic", "obscene", "threat", "insult")
HOT = [[0, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]


FORMS = {
    "lists": HOT,
    "array": np.array(HOT),
    "booleans": [[bool(value) for value in row] for row in HOT],
    "JSON": [json.dumps(row) for row in HOT],
    "floats": [str([float(value) for value in row]) for row in HOT],
    "NumPy": [str(np.array(row)) for row in HOT],
    "NumPy floats": [str(np.array(row, float)) for row in HOT],
    "commas": [",".join(map(str, row)) for row in HOT],
    "strings": [[str(value) for value in row] for row in HOT],
    "names": ["obscene,threat,insult", "toxic", "", "insult"],
    "Python names": ["['obscene', 'threat', 'insult']", "['toxic']", "[]", "['insult']"],
    "numbers": [[1, 2, 3], [0], [], [3]],
    "numbers as text": ["[1, 2, 3]", "0", "", "3"],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_labels_gives_the_same_array(form):
    encoded = make_processor("multi_label", NAMES).numbers(FORMS[form])
    assert (encoded.tolist(), encoded.dtype) == (HOT, np.float32)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_files_with_lists_of_zeros_and_ones_agree_with_python(tmp_path, name, capsys):
    path = tmp_path / name
    if name == "a.csv":
        path.write_text("text,labels\n" + "".join(f'"text {i}","{row}"\n' for i, row in enumerate(HOT)))
    else:
        path.write_text("".join(json.dumps({"text": f"text {i}", "labels": row}) + "\n" for i, row in enumerate(HOT)))
    table, processor = read_for("multi_label", path), make_processor("multi_label", NAMES)
    assert processor.numbers(table.y).tolist() == processor.numbers(HOT).tolist() == HOT
    assert type(processor).label_names(table.y) == ("0", "1", "2", "3")
    assert "labels are named 0 to 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "array"),
    [
        ([[0, 1], [1, 0]], [[0, 1], [1, 0]]),  # as many numbers as labels
        ([[0, 1], [1]], [[1, 1], [0, 1]]),  # label numbers
        ([[0.25, 0.5]], [[0.25, 0.5]]),  # soft labels
    ],
)
def test_two_labels(rows, array):
    assert LabelSet(("a", "b")).multi_hot(rows).tolist() == array


def test_numbers_are_names_where_labels_are_numbers():
    labels = LabelSet.from_cells([[10, 30], [20], []])
    assert labels.names == ("10", "20", "30")
    assert labels.multi_hot([[20], [10, 30]]).tolist() == [[0, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1], [7]], "row 1: expected one of the labels toxic, .*received 7"),
        ([[-1]], "row 0: expected one of the labels .*received -1"),
        ([[0, 1, 1, 1], [0, 1, 1]], r"row 1: expected 0 or 1 for each of 4 labels, .*received \[0, 1, 1\]"),
        ([[0, 1, 1, 1], []], r"row 1: expected 0 or 1 for each of 4 labels, .*received \[\]"),
        ([[0, 2, 2, 1]], r"row 0: expected 0 or 1 for each of 4 labels, .*received \[0, 2, 2, 1\]"),
        ([[0.5, 1]], "row 0: expected 0 or 1 for each of 4 labels"),
        ([[float("nan")]], "row 0: expected 0 or 1 for each of 4 labels"),
        ([["toxic"], [0]], r"row 1: expected labels of one kind, received \['toxic'\] in row 0 and \[0\] in row 1"),
        ([["toxic"], "[0, 1]"], "row 1: expected labels of one kind"),
        ([["toxic"], 3], "row 1: expected a list of labels for each text, received 3"),
        ([["toxic"], None], "row 1: expected a list of labels for each text, received None"),
        ([["toxic"], {"toxic": 1}], "row 1: expected a list of labels for each text"),
        ([[["toxic"]]], "row 0: expected a JSON list of labels"),
        (np.zeros((2, 3)), "row 0: expected 0 or 1 for each of 4 labels"),
        (np.full((2, 4), 2.0), "row 0: expected 0 or 1 for each of 4 labels"),
        (3, "expected a list with the labels of each text, received int"),
        ({"toxic": [1]}, "expected a list with the labels of each text, received dict"),
    ],
)
def test_rows_that_are_no_labels_raise(rows, message):
    with pytest.raises(KerasBertError, match=message):
        make_processor("multi_label", NAMES).numbers(rows)


def test_width_of_rows_without_names():
    assert LabelRows.read(HOT).width() == 4
    assert LabelRows.read([[0, 1], [1, 0]]).width() == 2
    assert LabelRows.read([[0], [1]]).width() is None
    assert LabelRows.read([[0, 1], [2]]).width() is None
    assert LabelRows.read(["a", "b"]).width() is None
    with pytest.raises(KerasBertError, match="row 2: expected 0 or 1 for each of 4 labels"):
        LabelRows.read([*HOT[:2], [0, 1, 1]]).width()


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        (["mobile; refund", "mobile", ""], ";"),
        (["Sci, Tech|World", "Sci, Tech"], "|"),
        (["a, b", "c"], ","),
        (["a", "b"], ","),
    ],
)
def test_one_separator_is_detected_for_all_rows(cells, separator):
    assert detect_separator(cells) == separator


def test_labels_of_all_rows_are_split_at_the_detected_separator():
    assert LabelSet.from_cells(["mobile; refund", "mobile", "web;refund"]).names == ("mobile", "refund", "web")
    assert LabelSet.from_cells(["Sci, Tech|World", "Sci, Tech"]).names == ("Sci, Tech", "World")


def test_two_separators_in_one_column_raise():
    with pytest.raises(KerasBertError, match=r"received '\|' and, in 'a,b', ','; use one"):
        LabelSet.from_cells(["a|b", "a,b"])


def test_known_names_decide_the_separator_of_a_cell():
    labels = LabelSet(("mobile", "refund", "Sci, Tech"))
    assert labels.multi_hot(["mobile; refund", "refund|Sci, Tech", "Sci, Tech"]).tolist() == [
        [1, 1, 0],
        [0, 1, 1],
        [0, 0, 1],
    ]
