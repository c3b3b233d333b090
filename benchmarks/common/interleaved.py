"""Processes that take turns: the parent asks one of them at a time, the others sleep on a pipe.

Messages are single lines of JSON. Interleaved measurements see the same machine on all sides, even a busy one.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

from kerasbert.errors import KerasBertError


class Worker:
    """A child process that answers each message with one; the parent's end.

    Attributes:
        name: A label for results.
        ready: The child's first message.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = self._read_answer()

    def ask(self, **message: object) -> dict:
        """Send a message and wait for the answer.

        Raises:
            KerasBertError: When the child has ended.
        """
        stdin = self._stream(self._process.stdin)
        stdin.write(json.dumps(message) + "\n")
        stdin.flush()
        return self._read_answer()

    def close(self) -> None:
        """End the child: its `receive` returns None."""
        self._stream(self._process.stdin).close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _read_answer(self) -> dict:
        line = self._stream(self._process.stdout).readline()
        if not line:
            raise KerasBertError(
                f"expected an answer of {self.name}, received exit code {self._process.wait()}; see its error output"
            )
        return json.loads(line)

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        if stream is None:
            raise KerasBertError("expected a child process with pipes, received none")
        return stream


class Parent:
    """The child's end of the pipe.

    Create it before importing libraries: their standard output goes to standard error from then on.
    """

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def send(self, **message: object) -> None:
        """Send a message to the parent."""
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def receive(self) -> dict | None:
        """Wait for the next message; None when the parent has closed the pipe."""
        line = sys.stdin.readline()
        return json.loads(line) if line else None
