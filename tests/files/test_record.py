"""Records check every value by the declaration of its field, whether they are read from a file or made in Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.files.known_keys import KnownKeys
from kerasbert.files.record import Options, Record, setting

NAN, INFINITE = float("nan"), float("inf")


@dataclass(frozen=True)
class Sizes(Record):
    aliases: ClassVar[Mapping[str, str]] = {"width": "dim"}

    width: int = setting(8, at_least=1)
    rate: float = setting(0.1, at_least=0, below=1)
    name: str = setting("gelu", choices=("gelu", "relu"))
    tied: bool = True
    share: float | None = setting(None, above=0, at_most=1)
    weights: dict[str, float] = setting(dict, at_least=0)
    layers: tuple[int, ...] = setting((), at_least=0)
    pairs: tuple[tuple[str, str], ...] = ()
    part: str | None = setting(None, number_as_text=True)


@dataclass(frozen=True)
class Wide(Sizes):
    width: int = 16

    def check(self) -> None:
        self.expect(self.width % 2 == 0, "width", "as an even number")


@dataclass(frozen=True)
class Plan(Record):
    count: int
    sizes: Sizes | None = None
    stages: list[Sizes] = setting(list)


@dataclass(frozen=True)
class Noted(Record):
    others: ClassVar[KnownKeys | None] = KnownKeys(harmless=frozenset({"version"}), only={"crf": (False,)})
    advice: ClassVar[str] = "load another model"

    width: int = 8


def test_aliases_are_the_keys_of_the_file():
    sizes = Sizes.from_dict({"dim": 16, "layers": [1, 2], "pairs": [["a", "b"]]}, "sizes.json")
    assert sizes == Sizes(width=16, layers=(1, 2), pairs=(("a", "b"),))
    assert "width" not in sizes.to_dict() and Sizes.from_dict(sizes.to_dict(), "sizes.json") == sizes


WRONG = [
    ({"width": 1.5}, "dim as a whole number of at least 1, received 1.5"),
    ({"width": True}, "dim as a whole number of at least 1, received True"),
    ({"width": 0}, "dim of at least 1, received 0"),
    ({"width": 10**90}, "dim as a finite number of at least 1, received 1000"),
    ({"rate": "0.1"}, "rate as a number from 0 to below 1, received '0.1'"),
    ({"rate": 1.0}, "rate from 0 to below 1, received 1.0"),
    ({"rate": NAN}, "rate from 0 to below 1, received nan"),
    ({"name": None}, "name as a string, received None"),
    ({"name": "tanh"}, "name as one of gelu, relu, received 'tanh'"),
    ({"tied": 1}, "tied as true or false, received 1"),
    ({"share": 0}, "share above 0 and of at most 1, received 0"),
    ({"share": INFINITE}, "share above 0 and of at most 1, received inf"),
    ({"weights": 3}, "weights as a table of numbers of at least 0, received 3"),
    ({"weights": {"head": "high"}}, "weights as a table of numbers of at least 0, received 'high' for 'head'"),
    ({"weights": {"head": True}}, "weights as a table of numbers of at least 0, received True for 'head'"),
    ({"weights": {"head": INFINITE}}, "weights as a finite number of at least 0, received inf for 'head'"),
    ({"layers": [0, "1"]}, "layers as a list of whole numbers of at least 0, received '1' as item 1"),
    ({"layers": [0, -1]}, "layers of at least 0, received -1"),
    ({"pairs": [["a", "b"], ["c"]]}, r"pairs as a list of lists, received \['c'\] as item 1"),
    ({"part": True}, "part as a string, received True"),
]


@pytest.mark.parametrize(("wrong", "expected"), WRONG)
def test_wrong_values_are_refused_in_python_and_in_files(wrong, expected):
    with pytest.raises(KerasBertError, match=f"^expected {expected}.*; correct it$"):
        Sizes(**wrong)
    with pytest.raises(KerasBertError, match=f"^a.json: expected {expected}.*; correct it$"):
        Sizes.from_dict({Sizes.key(name): value for name, value in wrong.items()}, "a.json")


def test_a_whole_number_becomes_the_float_of_its_field():
    assert type(Sizes(rate=0).rate) is float and Sizes(part=0.25).part == "0.25"


def test_a_subclass_with_another_default_keeps_the_bounds():
    assert Wide().width == 16
    with pytest.raises(KerasBertError, match="expected dim of at least 1, received 0"):
        Wide(width=0)
    with pytest.raises(KerasBertError, match="^a.json: expected dim as an even number, received 7; correct it"):
        Wide.from_dict({"dim": 7}, "a.json")


def test_records_inside_of_records_name_their_place():
    plan = Plan.from_dict({"count": 1, "sizes": {"dim": 4}, "stages": [{}, {"rate": 0.5}]}, "plan.toml")
    assert plan == Plan(1, Sizes(width=4), [Sizes(), Sizes(rate=0.5)])
    for values, message in (
        ({}, "plan.toml: expected count, received none; add it"),
        ({"count": 1, "sizes": {"width": 4}}, "plan.toml, sizes: expected the name of a setting, received 'width'"),
        ({"count": 1, "stages": [{}, {"rate": 2}]}, "plan.toml, stages 2: expected rate from 0 to below 1, received 2"),
        ({"count": 1, "sizes": 3}, "expected sizes as an object, received 3"),
        ({"count": 1, "stages": [3]}, "expected an object of dim, .*, received 3"),
        ([], r"plan.toml: expected an object of count, sizes, stages, received \[\]"),
    ):
        with pytest.raises(KerasBertError, match=message):
            Plan.from_dict(values, "plan.toml")


def test_keys_without_a_field_are_errors_unless_the_record_declares_others(capsys):
    with pytest.raises(
        KerasBertError, match="a.json: expected the name of a setting, received 'layer'; did you mean layers"
    ):
        Sizes.from_dict({"layer": 3}, "a.json")
    assert Noted.from_dict({"width": 3, "version": 2, "crf": False, "later": 1}, "noted.json") == Noted(3)
    assert capsys.readouterr().err == "note: noted.json: ignored 1 unknown key (later)\n"
    with pytest.raises(KerasBertError, match="crf False, the only supported value, received True; load another model"):
        Noted.from_dict({"crf": True}, "noted.json")
    with kb.strict(), pytest.raises(KerasBertError, match="known keys only"):
        Noted.from_dict({"later": 1}, "noted.json")
    with pytest.raises(KerasBertError, match="expected the name of a setting, received 'later'"):
        Noted.from_dict({"later": 1}, "noted.json", strict=True)


def test_options_are_named_as_on_the_command_line():
    @dataclass(frozen=True)
    class Run(Options):
        batch_size: int = setting(32, "Rows.", at_least=1)

    with pytest.raises(KerasBertError, match="^expected --batch-size of at least 1, received 0"):
        Run(batch_size=0)
    with pytest.raises(KerasBertError, match="^run.toml: expected batch_size of at least 1, received 0"):
        Run.from_dict({"batch_size": 0}, "run.toml")
