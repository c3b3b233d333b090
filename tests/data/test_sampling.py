import numpy as np
import pytest

from kerasbert.data.sampling import sample_evenly, spread
from kerasbert.errors import KerasBertError


@pytest.mark.parametrize(
    ("rows", "count", "expected"),
    [
        (5, 2, [0, 4]),
        (10, 4, [0, 3, 6, 9]),
        (7, 3, [0, 3, 6]),
        (3, 5, [0, 1, 2]),
        (3, None, [0, 1, 2]),
        (9, 1, [0]),
        (0, 4, []),
    ],
)
def test_rows_are_at_even_distances(rows, count, expected):
    assert spread(rows, count).tolist() == expected


def test_as_many_rows_are_chosen_as_were_asked_for():
    """A step would choose 300 of 600 rows where 512 are asked for."""
    for rows in range(1, 60):
        for count in range(1, rows + 1):
            chosen = spread(rows, count)
            assert len(set(chosen.tolist())) == count and chosen[0] == 0 and chosen[-1] in (0, rows - 1)
    assert len(spread(600, 512)) == 512


@pytest.mark.parametrize("count", [0, -1, True, 2.5, "3"])
def test_other_counts_are_refused(count):
    with pytest.raises(
        KerasBertError, match=f"of at least 1, received {count!r}; give a whole number, or None for all"
    ):
        spread(5, count)


def test_examples_keep_their_form():
    assert sample_evenly(list("abcde"), 2) == ["a", "e"]
    assert sample_evenly((["a", "b"], ["c", "d"]), 5) == (["a", "b"], ["c", "d"])
    assert sample_evenly(np.arange(5), 2).tolist() == [0, 4]
    packed = sample_evenly({"input_ids": [[1], [2], [3]], "attention_mask": np.ones((3, 1))}, 2)
    assert packed["input_ids"].tolist() == [[1], [3]] and packed["attention_mask"].shape == (2, 1)
