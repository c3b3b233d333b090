"""Overlapping windows over long texts."""

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text.windows import max_context, windows


@pytest.mark.parametrize(
    ("tokens", "room", "stride", "found"),
    [
        (0, 4, 2, [(0, 0)]),
        (4, 4, 2, [(0, 4)]),
        (5, 4, 2, [(0, 4), (2, 5)]),
        (9, 4, 4, [(0, 4), (4, 8), (8, 9)]),
        (3, 1, 1, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_windows(tokens, room, stride, found):
    assert windows(tokens, room, stride) == found


def test_windows_cover_all_tokens_and_none_is_redundant():
    for tokens in range(1, 30):
        for room in range(1, 9):
            for stride in range(1, room + 1):
                found = windows(tokens, room, stride)
                assert {place for start, end in found for place in range(start, end)} == set(range(tokens))
                assert all(end - start <= room for start, end in found)
                assert len(found) == 1 or found[-2][1] < tokens


@pytest.mark.parametrize(("room", "stride"), [(0, 1), (4, 0), (4, 5)])
def test_invalid_windows_raise(room, stride):
    with pytest.raises(KerasBertError):
        windows(9, room, stride)


def test_max_context_is_that_of_the_shorter_side():
    assert max_context(5, 3, 10) == 2
    assert max_context(np.array([2, 3, 6, 9, 10]), 3, 10).tolist() == [-1, 0, 3, 0, -1]
