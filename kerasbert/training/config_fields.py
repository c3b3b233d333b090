"""Fields of frozen configs: one declaration that flags, TOML files and checks share."""

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.suggestions import nearest

INFINITE = float("inf")
_TOO_LARGE = 2**63
_WORDS = {
    str: "a string", int: "a whole number", float: "a number", bool: "true or false", dict: "a table of numbers",
}  # fmt: skip


def option(
    default: Any,
    help: str,
    metavar: str = "N",
    *,
    at_least: float | None = None,
    at_most: float = INFINITE,
    choices: Sequence[str] = (),
) -> Any:
    """A field of a config.

    Args:
        default: Its default; `dict` and `list` make a new one.
        help: The text of `--help`.
        metavar: The word for its value in `--help`.
        at_least: The smallest number allowed; None for a field that is no number.
        at_most: The largest number allowed.
        choices: The strings allowed, any if empty.
    """
    factory = {"default_factory": default} if default in (dict, list) else {"default": default}
    metadata = {"help": help, "metavar": metavar, "at_least": at_least, "at_most": at_most, "choices": tuple(choices)}
    return dataclasses.field(**factory, metadata=metadata)


def flag(name: str) -> str:
    """`batch_size` as a user of the command line knows it: `--batch-size`."""
    return "--" + name.replace("_", "-")


def check_fields(config: Any) -> None:
    """Checks a config's values against what its fields declare.

    Raises:
        KerasBertError: When a value is out of range, none of the choices, or a string that no file can hold.
    """
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        _check_text(field.name, value)
        if value is None or not field.metadata:
            continue
        if field.metadata["at_least"] is not None:
            _check_range(flag(field.name), value, field.metadata["at_least"], field.metadata["at_most"])
        if (choices := field.metadata["choices"]) and value not in choices:
            raise KerasBertError(f"expected {flag(field.name)} of {', '.join(choices)}, received {value!r}")


def _check_range(name: str, value: float | Mapping[str, float], low: float, high: float) -> None:
    if isinstance(value, Mapping):
        for part, number in value.items():
            if not low <= number < _TOO_LARGE:
                raise KerasBertError(f"expected {name} of at least {low} and finite, received {number} for {part!r}")
    elif not (low <= value <= high and value < _TOO_LARGE):
        finite = f"of at least {low}" if value < low else f"as a finite number of at least {low}"
        raise KerasBertError(
            f"expected {name} {f'from {low} to {high}' if high < INFINITE else finite}, received {value}"
        )


def _check_text(name: str, value: object) -> None:
    """Raises KerasBertError for a string that no file can hold, such as a path with bytes that are not UTF-8."""
    for text in (value,) if isinstance(value, str) else value if isinstance(value, dict) else ():
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise KerasBertError(
                f"expected {flag(name)} in UTF-8, received {text!r}; rename it: a config file could not hold it"
            )


def checked_value(kind: type, name: str, value: object, where: object) -> Any:
    """A setting from a file, in the type of its field.

    Args:
        kind: The config's class.
        name: The setting's name in the file.
        value: Its value there.
        where: The file, for messages.

    Raises:
        KerasBertError: When there is no such setting, or its value has another type.
    """
    hints = typing.get_type_hints(kind)
    if name not in hints:
        meant = nearest(name, hints)
        advice = f"did you mean {meant}?" if meant else f"settings are {', '.join(hints)}"
        raise KerasBertError(f"{where}: received the setting {name!r}, expected one that there is; {advice}")
    accepted = accepted_types(hints[name])
    if name == "dev" and isinstance(value, float):  # a share of the training rows
        value = repr(value)
    if float in accepted and isinstance(value, int) and not isinstance(value, bool):
        value = _float(value)
    if isinstance(value, bool) and bool not in accepted or not isinstance(value, accepted):
        words = " or ".join(_WORDS[each] for each in accepted if each is not NoneType)
        raise KerasBertError(f"{where}: expected {name} as {words}, received {value!r}")
    if isinstance(value, dict):
        for part, number in value.items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise KerasBertError(f"{where}: expected {name} as numbers, received {number!r} for {part!r}")
        value = {part: _float(number) for part, number in value.items()}
    return value


def accepted_types(hint: Any) -> tuple[type, ...]:
    """The classes that a field's annotation accepts: `int | None` -> `(int, NoneType)`, `dict[str, float]` -> `(dict,)`."""
    kinds = typing.get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return tuple(typing.get_origin(kind) or kind for kind in kinds)


def _float(value: float) -> float:
    """The number as a float, infinite and so out of every range where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return INFINITE if value > 0 else -INFINITE
