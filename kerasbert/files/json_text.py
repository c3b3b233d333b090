"""JSON from files: the one place that parses it, out of which nothing but `KerasBertError` comes.

Python's parser also raises RecursionError (100,000 brackets), ValueError (5,000 digits) and UnicodeDecodeError, and accepts texts that fail
later, when they are printed, written or encoded: lone surrogates, and nests too deep for `repr`.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.read_limits import read_memory, too_large

MAX_BYTES = 64 << 20  # of a file that describes a model; the largest tokenizer.json published have 35 MB
MAX_DEPTH = 100
MAX_DIGITS = 100  # Hugging Face writes "no limit" with 31
_SMALL = 100_000  # characters; what they can be made of takes a few megabytes
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(
    text: str | bytes,
    where: object,
    *,
    expected: str = "JSON",
    advice: str = "",
    unique_names: bool = False,
    memory: int | None = None,
) -> Any:
    """The value of a JSON text, in UTF-8 if it is bytes, with or without BOM.

    As in Python's own writer and reader NaN and infinities are numbers, and of a name that stands twice in an object the last counts.
    Whoever uses a number has to check it.

    Args:
      text: the text.
      where: what holds it, such as its path; the error begins with it.
      expected, advice: of the error.
      unique_names: refuse an object with a name twice.
      memory: the most bytes that the value may take, by an estimate; by default `read_limits.read_memory()`.

    Raises:
      KerasBertError: a text that is not UTF-8 or not JSON, a value of more than 100 levels, a whole number of more than 100 digits, half
        of a surrogate pair, or more memory than `memory`.
    """

    def fault(received: str) -> KerasBertError:
        return KerasBertError(f"{where}: expected {expected}, received {received}" + (f"; {advice}" if advice else ""))

    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise fault(f"byte 0x{text[error.start]:02x} at offset {error.start}, which is not UTF-8") from None
    text = text.removeprefix("\ufeff")
    if len(text) > _SMALL and (needed := _memory(text)) > (most := read_memory() if memory is None else memory):
        raise too_large(where, f"JSON that takes about {needed >> 20:,} MB", most)
    if not text or text.isspace():
        raise fault("nothing")
    try:
        value = (_UNIQUE if unique_names else _DECODER).decode(text)
    except _Refused as error:
        raise fault(str(error)) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        told = error.msg.removesuffix(" at")
        raise fault(f"{told[:1].lower()}{told[1:]} at {place}") from None
    except RecursionError:
        raise fault(f"brackets inside of each other, more than {MAX_DEPTH} levels") from None
    if len(text) > MAX_DEPTH and text.count("[") + text.count("{") > MAX_DEPTH and deeper_than(value, MAX_DEPTH):
        raise fault(f"brackets inside of each other, more than {MAX_DEPTH} levels")
    if _ESCAPED_SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise fault(f"half of a surrogate pair (\\u{code:04x}), which is no character") from None
    return value


def read_json(path: str | os.PathLike, *, expected: str = "JSON", advice: str = "", max_bytes: int = MAX_BYTES) -> Any:
    """The value of a JSON file. Raises KerasBertError as `parse_json`, and for a file that is missing, not readable or too large."""
    return parse_json(read_bounded(path, max_bytes, expected), path, expected=expected, advice=advice)


def read_json_object(path: str | os.PathLike, *, expected: str = "a JSON object", max_bytes: int = MAX_BYTES) -> dict:
    """The object of a JSON file. Raises KerasBertError as `read_json`, and for any other value."""
    value = read_json(path, expected=expected, max_bytes=max_bytes)
    if not isinstance(value, dict):
        raise KerasBertError(f"{path}: expected {expected}, received {JSON_NAMES[type(value)]}")
    return value


def read_json_lines(path: str | os.PathLike) -> list[dict]:
    """The objects of a file of JSON lines. Raises KerasBertError as `read_json`, naming the line, and for any other value."""
    values = []
    for number, line in enumerate(read_bounded(path, MAX_BYTES, "JSON lines").split(b"\n"), start=1):
        if line.strip():
            values.append(parse_json(line, f"{path}, line {number}", expected="JSON lines"))
            if not isinstance(values[-1], dict):
                received = JSON_NAMES[type(values[-1])]
                raise KerasBertError(f"{path}, line {number}: expected a JSON object, received {received}")
    return values


def read_bounded(path: str | os.PathLike, max_bytes: int, expected: str = "a readable file") -> bytes:
    """The content of a file. Raises KerasBertError for one that is missing, not readable, or larger than `max_bytes`."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise KerasBertError(f"{path}: expected {expected}, received no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise KerasBertError(f"{path}: expected {expected}, received {getattr(error, 'strerror', error)}") from None
    if len(content) > max_bytes:
        raise KerasBertError(f"{path}: expected {expected} of at most {max_bytes:,} bytes, received a larger file")
    return content


JSON_NAMES = {
    dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number", bool: "true or false", type(None): "null",
}  # fmt: skip


class _Refused(ValueError):
    """What JSON allows and we do not; the message says what was received."""


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _Refused(f"a number of {len(digits)} digits")
    return int(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict:
    names = dict(pairs)
    if len(names) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise _Refused(f"the name {twice[:100]!r} twice")
    return names


_DECODER = json.JSONDecoder(parse_int=_whole_number)
_UNIQUE = json.JSONDecoder(parse_int=_whole_number, object_pairs_hook=_unique)


def _memory(text: str) -> int:
    """About what the value takes: CPython's empty list, dict, string and number, and the places that hold them."""
    return 2 * len(text) + 64 * text.count("[") + 232 * text.count("{") + 40 * text.count(",") + 26 * text.count('"')


def deeper_than(value: Any, levels: int) -> bool:
    """Whether lists and dicts stand inside of each other on more levels than that."""
    level = [value]
    for _ in range(levels):
        level = [
            part
            for parent in level
            if isinstance(parent, dict | list)
            for part in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(part, dict | list)
        ]
        if not level:
            return False
    return True
