"""Label encoding: indices, multi-hot vectors and scores."""

import numpy as np
import pytest

from kerasbert.data.label_sets import split_labels
from kerasbert.data.labels import LabelSet
from kerasbert.errors import KerasBertError


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["b", "a", "b"], ("a", "b")),
        (["10", "9", "-1"], ("-1", "9", "10")),
        (["10", "9", "x"], ("10", "9", "x")),
        ([1, 0, 10, 2], ("0", "1", "2", "10")),
        (np.array(["no", "yes"]), ("no", "yes")),
    ],
)
def test_order_of_labels(values, names):
    assert LabelSet.from_values(values).names == names


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "received no rows"),
        (["a", "a"], "only 'a' in all 2 rows"),
        (["a", "b", " "], "row 2: expected a label, received ' '"),
    ],
)
def test_invalid_values_raise(values, message):
    with pytest.raises(KerasBertError, match=message):
        LabelSet.from_values(values)


def test_index():
    indices = LabelSet(("a", "b", "c")).index(["c", "a", "c"])
    assert (indices.tolist(), indices.dtype) == ([2, 0, 2], np.int32)
    assert LabelSet(("0", "1")).index(np.array([1, 0])).tolist() == [1, 0]
    with pytest.raises(KerasBertError, match="row 1: expected one of the labels a, b, c, received 'd'"):
        LabelSet(("a", "b", "c")).index(["a", "d", "e"])


def test_messages_list_a_limited_number_of_labels():
    names = tuple(f"n{number:02}" for number in range(50))
    with pytest.raises(KerasBertError, match=r"n19, \.\.\., received 'x'"):
        LabelSet(names).index(["x"])


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("a|b", ["a", "b"]),
        ("a, b", ["a", "b"]),
        ("Sci, Tech|b", ["Sci, Tech", "b"]),
        ('["a, x", "b|y", 3]', ["a, x", "b|y", "3"]),
        ("a", ["a"]),
        ("", []),
        ("[]", []),
        ("|a||", ["a"]),
    ],
)
def test_split_labels(cell, labels):
    assert split_labels(cell) == labels


@pytest.mark.parametrize("cell", ["[a]", "[[1]]", "[null]", "[true]"])
def test_invalid_cells_raise(cell):
    with pytest.raises(KerasBertError, match="row 1: expected a JSON list of labels"):
        LabelSet.from_cells(["a", cell])


def test_multi_hot():
    labels = LabelSet.from_cells(["b|a", "", '["c"]'])
    assert labels.names == ("a", "b", "c")
    hot = labels.multi_hot(["c,a", "", "b|b"])
    assert (hot.tolist(), hot.dtype) == ([[1, 0, 1], [0, 0, 0], [0, 1, 0]], np.float32)
    assert LabelSet(("Sci, Tech", "b")).multi_hot(["Sci, Tech"]).tolist() == [[1, 0]]
    with pytest.raises(KerasBertError, match="row 1: .*'d'"):
        labels.multi_hot(["a", "b|d"])
    with pytest.raises(KerasBertError, match="none in 2 rows"):
        LabelSet.from_cells(["", "[]"])


def test_scores():
    scores = LabelSet.to_scores(["0.5", "5", 2, "-1e3"])
    assert (scores.tolist(), scores.dtype) == ([0.5, 5, 2, -1000], np.float32)


@pytest.mark.parametrize("value", ["", "high", "nan", "inf", "1e39", None])
def test_invalid_scores_raise(value):
    with pytest.raises(KerasBertError, match=f"row 1: expected a finite number .*received {value!r}"):
        LabelSet.to_scores(["1", value])


def test_long_numbers_are_names():
    digits = "9" * 5000
    labels = LabelSet.from_values([digits, "1"])
    assert labels.names == ("1", digits) and labels.index([digits]).tolist() == [1]
    with pytest.raises(KerasBertError, match="row 0: expected one of the labels 1, 2"):
        LabelSet(("1", "2")).index([digits])
    with pytest.raises(KerasBertError, match="row 0: expected a finite number"):
        LabelSet.to_scores([10**400])
    with pytest.raises(KerasBertError, match="row 0: expected a JSON list of labels, received .*100 levels"):
        LabelSet.from_cells(["[" * 100_000])
