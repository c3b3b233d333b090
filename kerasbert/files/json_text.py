"""JSON parsing for the whole package; raises no other error than `KerasBertError`.

Python's parser also raises RecursionError (100,000 brackets), ValueError (5,000 digits) and UnicodeDecodeError. It accepts texts that
fail later, when their values are printed, written or encoded: lone surrogates, and nesting too deep for `repr`.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from kerasbert.console.strictness import unknown
from kerasbert.errors import KerasBertError
from kerasbert.files.lfs_pointer import refuse_pointer
from kerasbert.files.read_limits import read_memory, too_large_error

MAX_BYTES = 64 << 20  # the largest published tokenizer.json files have 35 MB
MAX_DEPTH = 100
MAX_DIGITS = 100  # Hugging Face's number for "no limit" has 31
_SMALL = 100_000  # characters; their values take a few megabytes at most
_TOO_DEEP = f"brackets nested more than {MAX_DEPTH} levels deep"
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
    """Parse a JSON text, with or without BOM; bytes are decoded as UTF-8.

    As in Python's own parser, NaN and infinities are numbers, and the last of duplicate names in an object counts; a note names it.
    Callers check the range of numbers themselves.

    Args:
        text: the JSON text.
        where: its source, such as a path; the error starts with it.
        expected: what the source should hold, for the error.
        advice: what to do, for the error.
        unique_names: reject duplicate names in an object, as in data, where a note for each row would be too much.
        memory: limit in bytes on the estimated size of the value; `read_limits.read_memory()` by default.

    Raises:
        KerasBertError: when the text is not valid JSON in UTF-8, or exceeds a limit: 100 nested levels, 100 digits of a whole number,
            or `memory`. Lone surrogates are not valid either. When a name is a duplicate, under `strict` or with `unique_names`.
    """

    def make_error(received: str) -> KerasBertError:
        return KerasBertError(f"{where}: expected {expected}, received {received}" + (f"; {advice}" if advice else ""))

    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise make_error(f"byte 0x{text[error.start]:02x} at offset {error.start}, which is not UTF-8") from None
    text = text.removeprefix("\ufeff")
    if len(text) > _SMALL and (needed := _estimate_memory(text)) > (
        limit := read_memory() if memory is None else memory
    ):
        raise too_large_error(where, f"JSON that takes about {needed >> 20:,} MB", limit)
    if not text or text.isspace():
        raise make_error("nothing")
    try:
        try:
            value = _DECODER.decode(text)
        except _Duplicate as duplicate:
            if unique_names:
                raise
            _report_duplicate(where, duplicate.name)
            value = _LENIENT_DECODER.decode(text)
    except _Rejected as error:
        raise make_error(str(error)) from None
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        cause = error.msg.removesuffix(" at")
        raise make_error(f"{cause[:1].lower()}{cause[1:]} at {position}") from None
    except RecursionError:
        raise make_error(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > MAX_DEPTH and is_deeper_than(value, MAX_DEPTH):
        raise make_error(_TOO_DEEP)
    if _ESCAPED_SURROGATE.search(text) and (surrogate := _find_surrogate(value)):
        raise make_error(f"half of a surrogate pair ({surrogate}), which is no character")
    return value


def read_json(path: str | os.PathLike, *, expected: str = "JSON", advice: str = "", max_bytes: int = MAX_BYTES) -> Any:
    """Read the value of a JSON file.

    Args:
        path: the file.
        expected: what the file should hold, for the error.
        advice: what to do, for the error.
        max_bytes: limit on the file's size.

    Raises:
        KerasBertError: as `parse_json`, and when the file is missing, unreadable or too large.
    """
    return parse_json(read_bounded(path, max_bytes, expected), path, expected=expected, advice=advice)


def read_json_object(path: str | os.PathLike, *, expected: str = "a JSON object", max_bytes: int = MAX_BYTES) -> dict:
    """Read the object of a JSON file.

    Args:
        path: the file.
        expected: what the file should hold, for the error.
        max_bytes: limit on the file's size.

    Raises:
        KerasBertError: as `read_json`, and when the value is not an object.
    """
    value = read_json(path, expected=expected, max_bytes=max_bytes)
    if not isinstance(value, dict):
        raise KerasBertError(f"{path}: expected {expected}, received {JSON_NAMES[type(value)]}")
    return value


def read_json_lines(path: str | os.PathLike) -> list[dict]:
    """Read the objects of a file of JSON lines.

    Raises:
        KerasBertError: as `read_json`, and when a line is not an object; the message names the line.
    """
    values = []
    for number, line in enumerate(read_bounded(path, MAX_BYTES, "JSON lines").split(b"\n"), start=1):
        if line.strip():
            values.append(parse_json(line, f"{path}, line {number}", expected="JSON lines"))
            if not isinstance(values[-1], dict):
                received = JSON_NAMES[type(values[-1])]
                raise KerasBertError(f"{path}, line {number}: expected a JSON object, received {received}")
    return values


def read_bounded(path: str | os.PathLike, max_bytes: int, expected: str = "a readable file") -> bytes:
    """Read the content of a file.

    Args:
        path: the file.
        max_bytes: limit on its size.
        expected: what the file should hold, for the error.

    Raises:
        KerasBertError: when the file is missing, unreadable, a pointer of Git LFS, or larger than `max_bytes`.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise KerasBertError(f"{path}: expected {expected}, received no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise KerasBertError(f"{path}: expected {expected}, received {getattr(error, 'strerror', error)}") from None
    refuse_pointer(path, content)
    if len(content) > max_bytes:
        raise KerasBertError(f"{path}: expected {expected} of at most {max_bytes:,} bytes, received a larger file")
    return content


JSON_NAMES = {
    dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number", bool: "true or false", type(None): "null",
}  # fmt: skip


class _Rejected(ValueError):
    """Valid JSON that is not accepted here; the message is the "received" half of an error."""


class _Duplicate(_Rejected):
    """A name that stands twice in an object."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {name!r} twice")
        self.name = name


def _report_duplicate(where: object, name: str) -> None:
    unknown(where, "each name once in an object", f"all but the last value of {name!r}, which stands there twice")


def _parse_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _Rejected(f"a number of {len(digits)} digits")
    return int(digits)


def _unique_object(pairs: list[tuple[str, Any]]) -> dict:
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise _Duplicate(next(name for name, count in counts.items() if count > 1)[:100])
    return value


_DECODER = json.JSONDecoder(parse_int=_parse_int, object_pairs_hook=_unique_object)
_LENIENT_DECODER = json.JSONDecoder(parse_int=_parse_int)


def _find_surrogate(value: Any) -> str | None:
    """The escape of the first lone surrogate in the strings of a value."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        return f"\\u{ord(error.object[error.start]):04x}"
    return None


def _estimate_memory(text: str) -> int:
    """Bytes of the parsed value: CPython's empty lists, dicts, strings and numbers, and the references to them."""
    return 2 * len(text) + 64 * text.count("[") + 232 * text.count("{") + 40 * text.count(",") + 26 * text.count('"')


def is_deeper_than(value: Any, levels: int) -> bool:
    """Return True if lists and dicts in a value are nested more than `levels` deep."""
    containers = [value]
    for _ in range(levels):
        containers = [
            child
            for parent in containers
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not containers:
            return False
    return True
