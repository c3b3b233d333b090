"""TOML parsing that raises no other error than `KerasBertError`, and the writing of TOML values."""

import os
import tomllib
from collections.abc import Iterator
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import MAX_DEPTH, MAX_DIGITS, is_deeper_than, read_bounded

MAX_BYTES = 1 << 20  # the parser takes seconds for larger files


def read_toml(path: str | os.PathLike, *, expected: str = "TOML") -> dict[str, Any]:
    """Read a TOML file. NaN and infinities are numbers; callers check the range of numbers themselves.

    Args:
        path: the file.
        expected: what the file should hold, for the error.

    Raises:
        KerasBertError: when the file is missing, unreadable or not valid TOML in UTF-8, or exceeds a limit: 1 MiB, 100 nested levels,
            or 100 digits of a whole number.
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
    except ValueError as error:  # TOMLDecodeError, and Python's error for numbers of 5,000 digits
        raise KerasBertError(f"{path}: expected {expected}, received {error}") from None
    if is_deeper_than(value, MAX_DEPTH):
        raise _too_deep(path, expected)
    if any(abs(number) >= 10**MAX_DIGITS for number in _integers(value)):
        raise KerasBertError(f"{path}: expected {expected}, received a number of more than {MAX_DIGITS} digits")
    return value


def toml_value(value: str | bool | int | float | dict) -> str:
    """Format a value for the right side of `name = ` in TOML 1.0; a dict becomes an inline table.

    Raises:
        ValueError: when a string holds half of a surrogate pair, which TOML cannot represent.
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_value(name)} = {toml_value(item)}" for name, item in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        value.encode("utf-8")
        return '"' + "".join(_ESCAPES.get(character, character) for character in value) + '"'
    return repr(value)


_ESCAPES = {chr(code): f"\\u{code:04X}" for code in (*range(32), 127)}
_ESCAPES |= {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _too_deep(path: str | os.PathLike, expected: str) -> KerasBertError:
    return KerasBertError(f"{path}: expected {expected}, received values nested more than {MAX_DEPTH} levels deep")


def _integers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _integers(item)
