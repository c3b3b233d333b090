"""Messages between two processes over pipes: a JSON object and arrays by name. No pickles, as the other end may run a hostile file."""

import json
import os
import select
import struct
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from kerasbert.files.json_text import parse_json

_LENGTH = struct.Struct("<Q")
_MOST_HEADER = 64 << 20
_KINDS = "biufU"  # NumPy's kinds of dtypes that may be sent
_CHUNK = 1 << 20


class ChannelClosed(Exception):
    """The other end closed the channel."""


class ChannelTimeout(Exception):
    """The other end sent nothing in time."""


class Channel:
    """One end of two pipes.

    Args:
        reader: The file descriptor to read from.
        writer: The file descriptor to write to.
    """

    def __init__(self, reader: int, writer: int):
        self._reader, self._writer, self._received = reader, writer, bytearray()

    def send(self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None) -> None:
        """Send a message.

        Raises:
            ChannelClosed: when the other end does not read any more.
        """
        values = {name: np.ascontiguousarray(value) for name, value in (arrays or {}).items()}
        entries = [[name, value.dtype.str, list(value.shape)] for name, value in values.items()]
        text = json.dumps({**header, "arrays": entries}).encode()
        try:
            self._write(_LENGTH.pack(len(text)) + text + b"".join(value.tobytes() for value in values.values()))
        except (BrokenPipeError, OSError) as error:
            raise ChannelClosed from error

    def receive(self, seconds: float | None = None) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Wait for the next message.

        Args:
            seconds: The time limit; None for no limit.

        Returns:
            The JSON object and the arrays by name.

        Raises:
            ChannelClosed: when the other end closed the channel.
            ChannelTimeout: when no whole message arrived in time.
            ValueError: when the bytes are no message.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, deadline))
        if length > _MOST_HEADER:
            raise ValueError(f"a header of {length:,} bytes")
        header = parse_json(self._read(length, deadline), "a message")
        arrays = {}
        for name, dtype_name, shape in header.pop("arrays"):
            dtype, count = np.dtype(dtype_name), int(np.prod(shape, dtype=object))
            if dtype.kind not in _KINDS or count < 0:
                raise ValueError(f"an array of {dtype_name} and the shape {shape}")
            arrays[name] = np.frombuffer(self._read(count * dtype.itemsize, deadline), dtype).reshape(shape)
        return header, arrays

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._writer, view) :]

    def _read(self, count: int, deadline: float | None) -> bytes:
        """Return the next bytes. Whatever has arrived is buffered, mostly a whole message, so memory is bounded by what was sent."""
        while len(self._received) < count:
            if deadline is not None:
                remaining = max(deadline - time.monotonic(), 0)
                if not select.select([self._reader], [], [], remaining)[0]:
                    raise ChannelTimeout
            chunk = os.read(self._reader, _CHUNK)
            if not chunk:
                raise ChannelClosed
            self._received += chunk
        data = bytes(self._received[:count])
        del self._received[:count]
        return data
