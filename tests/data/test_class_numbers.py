"""A number given as a label is a class number or a number in a name; what may be both is an error."""

import numpy as np
import pytest

from kerasbert.data.labels import LabelSet
from kerasbert.errors import KerasBertError
from kerasbert.processors.classification import MultiLabel, SingleLabel
from kerasbert.processors.tagging import Tagging

STARS = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
RANKS = ("top 1", "top 2", "rest")


@pytest.mark.parametrize(
    ("names", "values", "classes"),
    [
        (("1.0", "2.0", "3.0"), ["1", "3", "2.0"], [0, 2, 1]),
        (("1", "2", "3"), ["1.0", "3"], [0, 2]),
        (("-1", "0", "1"), ["-1", "1.0", "+1"], [0, 2, 2]),
        (("01", "02"), ["1", "02"], [0, 1]),
        (("1", "01"), ["01", "1"], [1, 0]),
        (STARS, ["1", "5"], [0, 4]),
        (STARS, ["0", "4"], [0, 4]),
        (STARS, ["3 stars", "5"], [2, 4]),
        (("LABEL_0", "LABEL_1"), ["1", "0"], [1, 0]),
        (("LABEL_1", "LABEL_2"), ["1", "2"], [0, 1]),
        (("neg", "pos"), ["0", "1.0", "pos"], [0, 1, 1]),
        (("covid19", "other"), ["0", "1"], [0, 1]),
        (RANKS, ["0"], [0]),
    ],
)
def test_number_in_a_file_is_the_class_that_it_certainly_means(names, values, classes):
    assert LabelSet(names).index(values).tolist() == classes


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        (STARS, ["2 stars", "1"], r"row 1: .*class number 1 \('2 stars'\) or the label '1 star'; write names"),
        (("LABEL_1", "LABEL_2"), ["1"], r"class number 1 \('LABEL_2'\) or the label 'LABEL_1'"),
        (RANKS, ["1"], r"class number 1 \('top 2'\) or the label 'top 1'"),
        (STARS, ["0", "5"], "row 1: expected one of the labels 1 star, .*, received 5; write the names"),
        (("1", "2"), ["0"], "row 0: expected one of the labels 1, 2, received 0"),
        (("1", "01"), ["1.0"], "row 0: expected one of the labels 1, 01, received 1; write the names"),
        (("neg", "pos"), ["0.5"], "row 0: expected one of the labels neg, pos, received 0.5"),
        (("neg", "pos"), ["0", "2"], "row 1: expected one of the labels neg, pos, received 2"),
    ],
)
def test_number_in_a_file_that_may_mean_two_classes_is_an_error(names, values, message):
    with pytest.raises(KerasBertError, match=message):
        LabelSet(names).index(values)
    with pytest.raises(KerasBertError, match="write"):
        MultiLabel(names).numbers([[value] for value in values])


@pytest.mark.parametrize(
    ("names", "values", "classes"),
    [
        (("neg", "pos"), [0, 1], [0, 1]),
        (("neg", "pos"), np.array([0.0, 1.0]), [0, 1]),
        (("1", "2", "3"), [0, 1, 2], [0, 1, 2]),
        (("1", "2", "3"), [1, 3], [0, 2]),
        (("1.0", "2.0"), [1.0, 2.0], [0, 1]),
        (("-1", "0", "1"), [-1, 1], [0, 2]),
        (STARS, np.array([5, 1], np.int64), [4, 0]),
        (("0", "1"), np.array([], np.int32), []),
    ],
)
def test_number_in_python_is_the_class_that_it_certainly_means(names, values, classes):
    found = SingleLabel(names).numbers(values)
    assert found.tolist() == classes and found.dtype == np.int32


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        (("1", "2", "3"), [1, 2], r"row 0: .*class number 1 \('2'\) or the label '1'; write names"),
        (STARS, [2, 3], r"class number 2 \('3 stars'\) or the label '2 stars'"),
        (("neg", "pos"), [0, 2], "row 1: expected a class number from 0 to 1, received 2"),
        (("neg", "pos"), [0.0, np.nan], "row 1: expected a class number from 0 to 1, received nan"),
        (("neg", "pos"), [0.5], "row 0: expected a class number from 0 to 1, received 0.5"),
    ],
)
def test_number_in_python_that_may_mean_two_classes_is_an_error(names, values, message):
    with pytest.raises(KerasBertError, match=message):
        SingleLabel(names).numbers(values)


def test_class_numbers_of_tags_whose_names_are_numbers():
    words = [["a", "b"]]
    for names, numbers in ((("0", "1", "2"), [1, 2]), (("O", "B-1", "I-1"), [0, 1]), (("O", "B-X"), [1, 0])):
        tags = Tagging(names)
        assert tags.tags.encode([numbers], tags.examples(words))[0].tolist() == numbers
    for numbers in ([1, 1], [1, 2]):
        tags = Tagging(("1", "2"))
        with pytest.raises(KerasBertError, match="row 0: expected .*received 1"):
            tags.tags.encode([numbers], tags.examples(words))
