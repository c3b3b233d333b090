"""Two or more processes that work in turn: the parent says whose turn it is, everybody else sleeps on a pipe.

One line of JSON each way. A measurement that alternates in this way sees the same machine for all of them, also a busy
one.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence

from kerasbert.errors import KerasBertError


class Worker:
    """The parent's end: a child process that answers each message with one."""

    def __init__(self, name: str, command: Sequence[str]):
        self.name = name
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = self._answer()

    def ask(self, **message) -> dict:
        """Sends a message and waits for the answer. Raises KerasBertError when the child has ended instead."""
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """Ends the child: its `receive` gives None."""
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise KerasBertError(
                f"expected an answer of {self.name}, received the end of it (exit code {self._process.wait()})"
            )
        return json.loads(line)


class Parent:
    """The child's end. Made first of all: what libraries print to standard output goes to standard error from then on."""

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def send(self, **message) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def receive(self) -> dict | None:
        """The next message, or None when the parent is done."""
        line = sys.stdin.readline()
        return json.loads(line) if line else None
