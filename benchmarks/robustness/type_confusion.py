"""Settings files in which one value has another type: every value of a file, replaced by each of some values, one at a time."""

import gzip
import io
import json
import random
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

_DEEP = 400  # levels of nesting; JSON parsers of other languages refuse more than some hundreds
# One or more of each type, and values that pass a check of the type only.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**70, 0.5, 1e308, float("nan"), float("inf")),
    *("", "a", "5", "x" * 5000, [], [None], [1], ["a", "a"], [[]], {}, {"a": 1}, {"0": "a"}),
)
_TOML_VALUES = (
    *("true", "false", "0", "-1", "2147483648", "9223372036854775807", "0.5", "1e308", "nan", "inf", "-inf", '""', '"a"', '"5"'),
    *("[]", "[[]]", '["a", 1]', "{}", "{a = 1}", "1979-05-27", "07:32:00", f'"{"x" * 5000}"', "[" * _DEEP + "]" * _DEEP),
)  # fmt: skip
_ORDER = (
    20260  # arbitrary: places and values are tried in one shuffled order, so that a few inputs already try all files
)


def confused(seeds: list[dict[str, bytes]], names: Mapping[int, list[str]]) -> list[tuple[int, str, int]]:
    """List all inputs with one value of another type.

    Args:
        seeds: Valid inputs, each as files by name.
        names: The files to change, by the number of the valid input.

    Returns:
        The number of the valid input, the file's name, and the number of the change in it; in a shuffled order.
    """
    every = [
        (number, name, change)
        for number, files in enumerate(seeds)
        for name in names[number]
        for change in range(sum(1 for _ in _changes(name, files[name])))
    ]
    random.Random(_ORDER).shuffle(every)
    return every


def apply(name: str, data: bytes, change: int) -> bytes:
    """Return a file with one change.

    Args:
        name: The file's name.
        data: Its content.
        change: The number of the change.
    """
    for number, make in enumerate(_changes(name, data)):
        if number == change:
            return make()
    raise IndexError(change)


def _changes(name: str, data: bytes) -> Iterator[Any]:
    """Yield functions that return the file with one change; none for a file without settings."""
    if name.endswith(".gz"):
        name, data = name.removesuffix(".gz"), gzip.decompress(data)
        yield from ((lambda make=make: gzip.compress(make(), 1, mtime=0)) for make in _changes(name, data))
    elif name.endswith(".toml"):
        yield from _toml_changes(data)
    elif name.endswith((".json", ".jsonl")):
        yield from _json_changes(data)
    elif name.endswith(".safetensors"):
        end = 8 + int.from_bytes(data[:8], "little")
        yield from ((lambda make=make: _with_header(make(), data[end:])) for make in _json_changes(data[8:end]))
    elif zipfile.is_zipfile(io.BytesIO(data)):
        yield from _archive_changes(data)


def _with_header(header: bytes, tensors: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + tensors


def _json_changes(data: bytes) -> Iterator[Any]:
    """Each line of a file of JSON lines is a text of its own."""
    try:
        texts, lines = [json.loads(data)], [data]
    except ValueError:
        lines = data.splitlines()
        texts = [json.loads(line) for line in lines]
    for row, text in enumerate(texts):
        for path in _paths(text):
            for value in range(len(VALUES) + 2):
                yield lambda row=row, path=path, value=value: b"\n".join(
                    [*lines[:row], _replaced(lines[row], path, value), *lines[row + 1 :]]
                )


def _replaced(text: bytes, path: tuple, value: int) -> bytes:
    whole = json.loads(text)
    parent = whole
    for key in path[:-1]:
        parent = parent[key]
    marker = "\ue000 the place of the value"
    parent[path[-1]] = marker
    deep = ("[" * _DEEP + "]" * _DEEP, '{"a": ' * _DEEP + "1" + "}" * _DEEP)
    new = json.dumps(VALUES[value]) if value < len(VALUES) else deep[value - len(VALUES)]
    return json.dumps(whole).replace(json.dumps(marker), new).encode()


def _paths(value: Any, before: tuple = (), limit: int = 12) -> Iterator[tuple]:
    """Yield the paths of all values inside a value; of long lists and dicts only the first ones."""
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        few = not (isinstance(value, dict) and all(isinstance(each, dict | list) for each in value.values()))
        for key in list(keys)[: None if few and isinstance(value, dict) and len(value) <= 60 else limit]:
            yield (*before, key)
            yield from _paths(value[key], (*before, key))


def _toml_changes(data: bytes) -> Iterator[Any]:
    lines = data.decode().splitlines()
    for row, line in enumerate(lines):
        key, equals, _ = line.partition(" = ")
        for value in _TOML_VALUES if equals else ():
            yield lambda row=row, key=key, value=value: "\n".join(
                [*lines[:row], f"{key} = {value}", *lines[row + 1 :]]
            ).encode()


def _archive_changes(data: bytes) -> Iterator[Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {member.filename: archive.read(member) for member in archive.infolist()}
        before = data[: min((member.header_offset for member in archive.infolist()), default=0)]

    def packed(name: str, content: bytes) -> bytes:
        stream = io.BytesIO(before)
        stream.seek(0, io.SEEK_END)
        with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(stream, "a" if before else "w") as archive:
            for member, whole in members.items():
                archive.writestr(zipfile.ZipInfo(member), content if member == name else whole)
        return stream.getvalue()

    for name, content in members.items():
        if name.endswith(".json"):
            yield from ((lambda name=name, make=make: packed(name, make())) for make in _changes(name, content))
