"""Fields of frozen configs. Command line options, TOML files and checks share one declaration of each field."""

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.suggestions import nearest

INFINITE = float("inf")
REQUIRED = dataclasses.MISSING
_TOO_LARGE = 2**63
_TYPE_NAMES = {
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
    off: str = "",
) -> Any:
    """Declare a field of a config.

    Args:
        default: The default. `dict` and `list` create a new value for each config; `REQUIRED` declares a field without a default.
        help: The text of `--help`.
        metavar: The placeholder for the value in `--help`.
        at_least: The smallest number allowed; None for a field that is not a number.
        at_most: The largest number allowed.
        choices: The strings allowed; any if empty.
        off: The option that turns a flag off, without dashes; by default `no-` before its name.
    """
    metadata = {
        "help": help, "metavar": metavar, "at_least": at_least, "at_most": at_most, "choices": tuple(choices), "off": off,
    }  # fmt: skip
    if default is dict or default is list:
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def flag(name: str) -> str:
    """Return the command line option of a field: `--batch-size` for `batch_size`."""
    return "--" + name.replace("_", "-")


def check_fields(config: Any) -> None:
    """Check a config's values against the declarations of its fields.

    Args:
        config: A frozen dataclass whose fields are made by `option`.

    Raises:
        KerasBertError: When a value is out of range, not one of the choices, or not valid UTF-8.
    """
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        _check_text(field.name, value)
        if value is None or not field.metadata:
            continue
        if field.metadata["at_least"] is not None:
            _check_range(flag(field.name), value, field.metadata["at_least"], field.metadata["at_most"])
        if (choices := field.metadata["choices"]) and value not in choices:
            raise KerasBertError(f"expected {flag(field.name)} as one of {', '.join(choices)}, received {value!r}")


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
    """Check that a string is valid UTF-8. A path may contain other bytes, which a config file cannot store.

    Raises:
        KerasBertError: When it is not.
    """
    for text in (value,) if isinstance(value, str) else value if isinstance(value, dict) else ():
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise KerasBertError(
                f"expected {flag(name)} in UTF-8, received {text!r}; rename it, because a config file cannot store it"
            )


def check_value(kind: type, name: str, value: object, where: object) -> Any:
    """Check a setting of a file and convert it to the type of its field.

    Args:
        kind: The config's class.
        name: The setting's name in the file.
        value: Its value in the file.
        where: The file, for messages.

    Returns:
        The value for the field.

    Raises:
        KerasBertError: When there is no such setting, or its value has another type.
    """
    hints = typing.get_type_hints(kind)
    if name not in hints:
        suggestion = nearest(name, hints)
        advice = f"did you mean {suggestion}?" if suggestion else f"the settings are {', '.join(hints)}"
        raise KerasBertError(f"{where}: expected the name of a setting, received {name!r}; {advice}")
    accepted = accepted_types(hints[name])
    if name == "dev" and isinstance(value, float):  # a fraction of the training rows
        value = repr(value)
    if float in accepted and isinstance(value, int) and not isinstance(value, bool):
        value = _float(value)
    if isinstance(value, bool) and bool not in accepted or not isinstance(value, accepted):
        names = " or ".join(_TYPE_NAMES[each] for each in accepted if each is not NoneType)
        raise KerasBertError(f"{where}: expected {name} as {names}, received {value!r}")
    return _check_numbers(name, value, where) if isinstance(value, dict) else value


def _check_numbers(name: str, table: Mapping[str, Any], where: object) -> dict[str, float]:
    for part, number in table.items():
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise KerasBertError(f"{where}: expected {name} as numbers, received {number!r} for {part!r}")
    return {part: _float(number) for part, number in table.items()}


def accepted_types(hint: Any) -> tuple[type, ...]:
    """Return the classes that a field's annotation accepts.

    `int | None` gives `(int, NoneType)`, and `dict[str, float]` gives `(dict,)`.

    Args:
        hint: The annotation.
    """
    kinds = typing.get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return tuple(typing.get_origin(kind) or kind for kind in kinds)


def _float(value: float) -> float:
    """Convert to float. A number that is too large becomes infinite, which is out of every range."""
    try:
        return float(value)
    except OverflowError:
        return INFINITE if value > 0 else -INFINITE
