"""The class that a number means where labels have names: a class number, or the number in a name such as `1.0` or `1 star`."""

import re
from collections.abc import Mapping, Sequence

from kerasbert.errors import KerasBertError

NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?")  # longer ones are names, for example of accounts or products
_INNER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")
_MAX_NAMES = 20  # in a message


def classes_of_numbers(
    names: Sequence[str], numbers: Sequence[float], rows: Sequence[int], *, written: bool, inner: bool = True
) -> list[int]:
    """Return the class of each number.

    A number is a class number, counted from 0, or the number in a name. Where the numbers of all rows fit both and mean different classes,
    there is no certain answer, and the caller has to write names.

    Args:
        names: The names of the classes.
        numbers: The numbers.
        rows: The row of each one, for errors.
        written: Whether they are texts. The text `1` is the name `1.0` where all names are numbers, and never a class number.
        inner: Whether a number inside of a name counts, such as that of `1 star`; otherwise only names that are numbers.

    Raises:
        KerasBertError: When a number is no class, or its class is not certain.
    """
    classes = _classes_by_number(names, inner)
    all_named = len(classes) == len(names) == sum(map(len, classes.values()))
    as_names = all_named and all(number in classes for number in numbers)
    as_classes = all(_is_class(number, names) for number in numbers)
    only_names = written and all(NUMBER.fullmatch(name.strip()) for name in names)
    if only_names:
        as_names, as_classes = all(len(classes.get(number, ())) == 1 for number in numbers), False
    if as_classes and (as_names or not all_named):
        _check_certain(names, classes, numbers, rows)
    if not as_names and not as_classes:
        pairs = list(zip(rows, numbers, strict=True))
        no_class = [pair for pair in pairs if only_names or not _is_class(pair[1], names)]
        row, number = next((pair for pair in no_class if len(classes.get(pair[1], ())) != 1), no_class[0])
        expected = f"one of the labels {_few(names)}" if written else f"a class number from 0 to {len(names) - 1}"
        raise KerasBertError(f"row {row}: expected {expected}, received {number:g}; write the names of labels")
    return [int(number) if as_classes else classes[number][0] for number in numbers]


def _classes_by_number(names: Sequence[str], inner: bool) -> dict[float, list[int]]:
    """Return the classes with each number in their names. A number in a single name says nothing about the others, such as `covid19`."""
    classes: dict[float, list[int]] = {}
    for place, name in enumerate(names):
        found = [name] if NUMBER.fullmatch(name.strip()) else _INNER.findall(name) if inner else []
        if len(found) == 1:
            classes.setdefault(float(found[0]), []).append(place)
    return classes if sum(_is_class(number, names) for number in classes) > 1 or len(classes) == len(names) else {}


def _check_certain(
    names: Sequence[str], classes: Mapping[float, Sequence[int]], numbers: Sequence[float], rows: Sequence[int]
) -> None:
    """Check that no class number is the number in the name of another class."""
    for number, row in zip(numbers, rows, strict=True):
        others = [place for place in classes.get(number, ()) if place != number]
        if others:
            raise KerasBertError(
                f"row {row}: expected the name of a label, received {number:g}, which may be class number {number:g} "
                f"({names[int(number)]!r}) or the label {names[others[0]]!r}; write names"
            )


def _is_class(number: float, names: Sequence[str]) -> bool:
    return float(number).is_integer() and 0 <= number < len(names)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
