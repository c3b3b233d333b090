"""Which layer teaches which."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.training.distillation import layer_map


@pytest.mark.parametrize(
    "layers, student, teacher, expected",
    [
        ("uniform", 4, 12, [2, 5, 8, 11]),  # TinyBERT's
        ("uniform", 6, 12, [1, 3, 5, 7, 9, 11]),
        ("uniform", 3, 3, [0, 1, 2]),
        ("uniform", 3, 4, [1, 2, 3]),
        ("skip", 5, 12, [1, 3, 5, 7, 9]),  # PKD-Skip without its last layer
        ("last", 5, 12, [7, 8, 9, 10, 11]),
    ],
)
def test_rules_map_layers(layers, student, teacher, expected):
    assert list(layer_map(layers, student, teacher).items()) == list(enumerate(expected))


def test_explicit_map_is_kept():
    assert layer_map({2: -1, 0: 3}, 3, 12) == {0: 3, 2: 11}
    assert layer_map({0: 0}, 4, 2) == {0: 0}


@pytest.mark.parametrize(
    "layers, expected",
    [
        ("middle", "uniform, skip, last"),
        ("uniform", "at least the student's 4 layers"),
        ({}, "an empty map"),
        ({0: 2}, "layers from 0 to 1 of the teacher in layers, received 2"),
        ({4: 0}, "layers from 0 to 3 of the student in layers, received 4"),
        ({0: True}, "received True"),
        ({0: 1, -4: 1}, "layer 0 twice"),
    ],
)
def test_invalid_maps_are_refused(layers, expected):
    with pytest.raises(KerasBertError, match=expected):
        layer_map(layers, 4, 2)
