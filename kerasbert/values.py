"""What a value must be: its kind, bounds and choices. Settings and arguments of public functions are checked by the same rules."""

import math
import reprlib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from numbers import Integral, Real
from typing import Any, TypeGuard

from kerasbert.errors import KerasBertError

INFINITE = math.inf
_TOO_LARGE = 2**63
_KINDS = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}
_PLURALS = {
    int: "whole numbers",
    float: "numbers",
    str: "strings",
    bool: "true or false",
    list: "lists",
    tuple: "lists",
}
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100
_SHORT.maxlist = _SHORT.maxtuple = 8


def short_repr(value: object) -> str:
    """Return the `repr` of a value, shortened in the middle."""
    return _SHORT.repr(value)


def is_whole_number(value: object, least: float = -INFINITE, most: float = INFINITE) -> TypeGuard[int]:
    """Tell whether a value is a whole number within bounds, Python's or NumPy's. True and False are no numbers."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def is_real(value: object) -> TypeGuard[float]:
    """Tell whether a value is a number, NaN and infinities included. True and False are no numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_number(value: object, least: float = -INFINITE, most: float = INFINITE) -> TypeGuard[float]:
    """Tell whether a value is a finite number within bounds, Python's or NumPy's. True and False are no numbers."""
    return is_real(value) and least <= value <= most and abs(value) < INFINITE


@dataclass(frozen=True)
class Rule:
    """What a value must be.

    Attributes:
        kind: Its type, as an annotation: `int`, `float | None`, `dict[str, float]`, `tuple[str, ...]`, ... A float may be a whole number,
            a tuple may be a list, and True and False are no numbers.
        at_least: The smallest number; None for any. Bounds hold for the numbers inside of lists and objects too.
        at_most: The largest number.
        above: The number below all that are accepted.
        below: The number above all that are accepted.
        choices: The values that are accepted; any if empty.
        number_as_text: Whether a number is accepted for a string, and becomes its text.
    """

    kind: Any = object
    at_least: float | None = None
    at_most: float = INFINITE
    above: float | None = None
    below: float | None = None
    choices: tuple[Any, ...] = ()
    number_as_text: bool = False

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The annotations that the kind is a union of; without None."""
        union = typing.get_origin(self.kind) in (types.UnionType, typing.Union)
        return tuple(kind for kind in (typing.get_args(self.kind) if union else (self.kind,)) if kind is not type(None))

    def check(self, value: Any, name: str, where: object = None, advice: str = "correct it") -> Any:
        """Return a value as `settled` does, once it is checked.

        Args:
            value: The value.
            name: Its name in the message.
            where: The file that it is from, for the message; None for an argument.
            advice: What to do about a wrong value.

        Raises:
            KerasBertError: When it is none of these.
        """
        if fault := self.fault(value):
            place = "" if where is None else f"{where}: "
            raise KerasBertError(f"{place}expected {name} {fault[0]}, received {fault[1]}; {advice}")
        return self.settled(value)

    def settled(self, value: Any) -> Any:
        """Return a value as its kind: a float for a whole number, a tuple for a list, Python's numbers for NumPy's. Others stay."""
        return repr(value) if self.number_as_text and isinstance(value, float) else _settled(value, self.kind)

    def fault(self, value: object) -> tuple[str, str] | None:
        """Return what was expected, such as "as a whole number" or "of at least 1", and what was received; None for a value that fits."""
        found = None if self.number_as_text and isinstance(value, float) else _misfit(value, self.kind)
        if found is not None:
            return f"as {self.described()} {self._limits()}".rstrip(), found
        if self.choices and value is not None and value not in self.choices:
            return f"as one of {', '.join(map(str, self.choices))}", short_repr(value)
        for number, place in _numbers(value):
            if not self._is_within(number):
                finite = "" if abs(number) < _TOO_LARGE or not self._is_open else "as a finite number "
                return (finite + self._limits()).rstrip(), short_repr(number) + place
        return None

    def described(self) -> str:
        """Return the kind as text, such as "a whole number"."""
        kinds = [kind for kind in self.kinds if kind is not int or float not in self.kinds]
        return " or ".join(map(_described, kinds))

    def _is_within(self, number: float) -> bool:
        return (
            (self.at_least is None or number >= self.at_least)
            and number <= self.at_most
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (abs(number) < _TOO_LARGE or self.at_most < INFINITE)
        )

    def _limits(self) -> str:
        """Return the bounds as text, such as "of at least 1"; "" without any."""
        low = "" if self.above is None else f"above {self.above}"
        low = low if self.at_least is None else f"of at least {self.at_least}"
        if self._is_open:
            return low
        high = f"below {self.below}" if self.below is not None else f"of at most {self.at_most}"
        if self.at_least is not None:
            return f"from {self.at_least} to {high.removeprefix('of at most ')}"
        return f"{low} and {high}" if low else high

    @property
    def _is_open(self) -> bool:
        return self.below is None and self.at_most >= _TOO_LARGE


def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the class of an annotation and the annotations of its items: `dict[str, float]` is `dict` and `(str, float)`."""
    origin = typing.get_origin(kind) or kind
    return (dict if origin is Mapping else origin), typing.get_args(kind)


def _described(kind: Any) -> str:
    origin, items = _parts(kind)
    if origin is dict:
        return f"a table of {_PLURALS[items[1]]}" if items and items[1] in _PLURALS else _KINDS[dict]
    if origin in (list, tuple):
        item = _parts(items[0])[0] if items else None
        return f"a list of {_PLURALS[item]}" if item in _PLURALS else "a list"
    return _KINDS[dict] if is_dataclass(origin) else _KINDS.get(origin, getattr(origin, "__name__", str(origin)))


def _settled(value: Any, kind: Any) -> Any:
    fitting = next((each for each in Rule(kind).kinds if _misfit_of_one(value, each) is None), object)
    origin, items = _parts(fitting)
    if origin is float:
        return _as_float(value)
    if origin is int:
        return int(value)
    if origin is dict and items:
        return {key: _settled(item, items[1]) for key, item in value.items()}
    if origin in (list, tuple):
        return origin(value if _are_of(value, items) else map(_settled, value, _of_items(items, len(value))))
    return value


def _misfit(value: object, kind: Any) -> str | None:
    """Return what was received in place of the kind, with its place in a list or an object; None where it fits."""
    if value is None and (kind is None or type(None) in typing.get_args(kind)):
        return None
    faults = [_misfit_of_one(value, each) for each in Rule(kind).kinds]
    return None if None in faults else faults[0]


def _misfit_of_one(value: Any, kind: Any) -> str | None:
    origin, items = _parts(kind)
    if not _is_of(value, origin):
        return short_repr(value)
    inside: list[tuple[str, str | None]] = []
    if origin is dict and items:
        inside = [(f" for {key!r}", _misfit(item, items[1])) for key, item in value.items()]
    elif origin in (list, tuple) and items and not _are_of(value, items):
        kinds = _of_items(items, len(value))
        if len(kinds) != len(value):
            return short_repr(value)
        inside = [(f" as item {place}", _misfit(*pair)) for place, pair in enumerate(zip(value, kinds, strict=True))]
    return next((fault + place for place, fault in inside if fault is not None), None)


def _is_of(value: object, origin: Any) -> bool:
    accepted = {int: Integral, float: Real, tuple: (list, tuple), dict: Mapping, Any: object}.get(origin, origin)
    return isinstance(value, accepted) and not (isinstance(value, bool) and origin in (int, float))


def _are_of(values: Iterable, items: tuple[Any, ...]) -> bool:
    """Tell whether all items have exactly the one class of the annotation; vocabularies have tens of thousands."""
    return items[1:] in ((), (...,)) and set(map(type, values)) <= set(items[:1])


def _of_items(items: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Return the annotation of each item of a list or a tuple: `tuple[str, ...]` has as many as there are items."""
    is_any_number = len(items) < 2 or items[1] is Ellipsis
    return (items[0] if items else object,) * count if is_any_number else items


def _numbers(value: object) -> list[tuple[float, str]]:
    """Return the numbers of a value, each with its place as text."""
    if isinstance(value, Mapping):
        return [(item, f" for {key!r}") for key, item in value.items() if is_real(item)]
    items = value if isinstance(value, list | tuple) else (value,)
    return [(item, "") for item in items if not isinstance(item, str) and is_real(item)]


def _as_float(value: float) -> float:
    """Convert to float. A number that is too large becomes infinite, which is out of every range."""
    try:
        return float(value)
    except OverflowError:
        return INFINITE if value > 0 else -INFINITE
