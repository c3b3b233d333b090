"""TOML: the one place that parses a user's, out of which nothing but `KerasBertError` comes, and writes values."""

import os
import tomllib
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import MAX_DEPTH, MAX_DIGITS, deeper_than, read_bounded

MAX_BYTES = 1 << 20  # the parser takes seconds for more


def read_toml(path: str | os.PathLike, *, expected: str = "TOML") -> dict[str, Any]:
    """The content of a TOML file. NaN and infinities are numbers; whoever uses a number has to check it.

    Raises:
      KerasBertError: a file that is missing, not readable, larger than 1 MiB, not UTF-8 or not TOML, a value of more than 100 levels, or a
        whole number of more than 100 digits.
    """
    content = read_bounded(path, MAX_BYTES, expected)
    try:
        value = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        byte = content[error.start]
        received = f"byte 0x{byte:02x} at offset {error.start}, which is not UTF-8"
        raise KerasBertError(f"{path}: expected {expected}, received {received}") from None
    except RecursionError:
        raise _too_deep(path, expected) from None
    except ValueError as error:  # TOMLDecodeError, and what Python says of numbers of 5,000 digits
        raise KerasBertError(f"{path}: expected {expected}, received {error}") from None
    if deeper_than(value, MAX_DEPTH):
        raise _too_deep(path, expected)
    if any(abs(number) >= 10**MAX_DIGITS for number in _whole_numbers(value)):
        raise KerasBertError(f"{path}: expected {expected}, received a number of more than {MAX_DIGITS} digits")
    return value


def toml_value(value: str | bool | int | float | dict) -> str:
    """A value as it stands behind `name = ` in TOML 1.0; a dict, of strings to values, as an inline table.

    Strings keep all characters but half surrogate pairs, which TOML cannot have: a ValueError.
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_value(name)} = {toml_value(each)}" for name, each in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        value.encode("utf-8")
        return '"' + "".join(_ESCAPES.get(letter, letter) for letter in value) + '"'
    return repr(value)


_ESCAPES = {chr(code): f"\\u{code:04X}" for code in (*range(32), 127)}
_ESCAPES |= {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _too_deep(path, expected: str) -> KerasBertError:
    return KerasBertError(
        f"{path}: expected {expected}, received values inside of each other, more than {MAX_DEPTH} levels"
    )


def _whole_numbers(value: Any):
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _whole_numbers(part)
