from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.files.json_config import JsonConfig


@dataclass(frozen=True)
class Sizes(JsonConfig):
    aliases: ClassVar[Mapping[str, str]] = {"width": "dim"}

    width: int = 8
    rate: float = 0.1
    name: str = "gelu"
    tied: bool = True


def test_aliases_are_the_keys_of_the_file():
    sizes = Sizes.from_dict({"dim": 16, "width": 32, "other": 1})
    assert sizes == Sizes(width=16)
    assert sizes.to_dict() == {"dim": 16, "rate": 0.1, "name": "gelu", "tied": True}
    assert Sizes.from_dict(sizes.to_dict()) == sizes


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"width": 1.5}, "'dim' to be a whole number, received 1.5"),
        ({"width": True}, "'dim' to be a whole number, received True"),
        ({"rate": "0.1"}, "'rate' to be a number, received '0.1'"),
        ({"name": None}, "'name' to be a string, received None"),
        ({"tied": 1}, "'tied' to be true or false, received 1"),
    ],
)
def test_values_of_another_type_are_refused(wrong, expected):
    with pytest.raises(KerasBertError, match=expected):
        Sizes(**wrong)


def test_a_whole_number_is_a_number():
    assert Sizes(rate=0).rate == 0
