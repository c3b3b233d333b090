"""Messages between two processes over pipes: a JSON object and arrays by name. No pickles: the other end may run a hostile file."""

import json
import os
import select
import struct
import time
from collections.abc import Mapping

import numpy as np

from kerasbert.files.json_text import parse_json

_LENGTH = struct.Struct("<Q")
_MOST_HEADER = 64 << 20
_KINDS = "biufU"  # of arrays
_CHUNK = 1 << 20


class Ending(Exception):
    """The other end is gone."""


class Silence(Exception):
    """The other end said nothing in time."""


class Channel:
    """One end of two pipes. reader, writer: file descriptors."""

    def __init__(self, reader: int, writer: int):
        self._reader, self._writer, self._come = reader, writer, bytearray()

    def send(self, header: Mapping[str, object], arrays: Mapping[str, np.ndarray] | None = None) -> None:
        """Raises Ending where nobody reads any more."""
        values = {name: np.ascontiguousarray(value) for name, value in (arrays or {}).items()}
        listed = [[name, value.dtype.str, list(value.shape)] for name, value in values.items()]
        text = json.dumps({**header, "arrays": listed}).encode()
        try:
            self._write(_LENGTH.pack(len(text)) + text + b"".join(value.tobytes() for value in values.values()))
        except (BrokenPipeError, OSError) as error:
            raise Ending from error

    def receive(self, seconds: float | None = None) -> tuple[dict, dict[str, np.ndarray]]:
        """The next message. Raises Ending where none comes, Silence where it takes longer, ValueError for what is no message."""
        until = None if seconds is None else time.monotonic() + seconds
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, until))
        if length > _MOST_HEADER:
            raise ValueError(f"a header of {length:,} bytes")
        header = parse_json(self._read(length, until), "a message")
        arrays = {}
        for name, kind, shape in header.pop("arrays"):
            dtype, count = np.dtype(kind), int(np.prod(shape, dtype=object))
            if dtype.kind not in _KINDS or count < 0:
                raise ValueError(f"an array of {kind} and the shape {shape}")
            arrays[name] = np.frombuffer(self._read(count * dtype.itemsize, until), dtype).reshape(shape)
        return header, arrays

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._writer, view) :]

    def _read(self, count: int, until: float | None) -> bytes:
        """Takes what has come, which is mostly a whole message; no more memory is taken than that."""
        while len(self._come) < count:
            if until is not None and not select.select([self._reader], [], [], max(until - time.monotonic(), 0))[0]:
                raise Silence
            part = os.read(self._reader, _CHUNK)
            if not part:
                raise Ending
            self._come += part
        found = bytes(self._come[:count])
        del self._come[:count]
        return found
