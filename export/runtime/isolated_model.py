"""A `.tflite` model in a process of its own: a crash of the runtime, a hang, or a request for all memory is an error here, in one line."""

import itertools
import os
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.subprocesses.process import ProcessResult
from kerasbert.export.runtime.interpreter_model import InterpreterModel, Port
from kerasbert.export.runtime.messages import Channel, Ending, Silence
from kerasbert.export.tflite.reader import check_structure

SECONDS = 120.0  # for opening a file, and for one row
_LAST_SECONDS = 5.0
_MOST_ROWS, _TOGETHER_SECONDS, _TOGETHER_BYTES = 64, 0.25, 8 << 20  # of one message
_COMMAND = (sys.executable, "-P", "-m", "kerasbert.export.runtime.model_worker")


class IsolatedFile:
    """A file that a process of its own has open. The process starts at once and is ended with this object."""

    def __init__(self, path: str | os.PathLike, threads: int = 1, kernels: str = "xnnpack", seconds: float = SECONDS):
        self.path, self.threads, self.kernels, self.seconds = path, threads, kernels, seconds
        self._log = tempfile.TemporaryFile()
        command = [*_COMMAND, os.fspath(path), str(threads), kernels]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._log}
        self._process = subprocess.Popen(command, **pipes, bufsize=0, start_new_session=True)
        self._channel = Channel(self._process.stdout.fileno(), self._process.stdin.fileno())
        self._end = weakref.finalize(self, _ended, self._process, self._log)

    def open(self, length: int | None = None) -> "IsolatedModel":
        """The model at a length, or at any that it takes. Raises KerasBertError as `open_model` does, and for a process that ended."""
        return IsolatedModel(self, length, self.ask({"ask": "open", "length": length})[0])

    def ask(self, header: dict, arrays: dict[str, np.ndarray] | None = None) -> tuple[dict, dict[str, np.ndarray]]:
        """What the process answers. Raises KerasBertError where it reports one, ended, or said nothing in time."""
        try:
            self._channel.send(header, arrays)
            answer, values = self._channel.receive(self.seconds)
        except (Ending, Silence, ValueError, KeyError, TypeError) as error:
            raise self._failure(error) from None
        if "error" in answer:
            raise KerasBertError(answer["error"])
        return answer, values

    def close(self) -> None:
        """Ends the process."""
        self._end()

    def _failure(self, error: Exception) -> KerasBertError:
        if not isinstance(error, Ending):
            self._process.kill()
        try:
            status = self._process.wait(_LAST_SECONDS)  # its pipe is closed: it is about to end
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._log.seek(0)
        log = "\n".join(
            line for line in self._log.read().decode("utf-8", "replace").splitlines() if not line.startswith("INFO:")
        )
        self.close()
        words = ProcessResult(None if isinstance(error, Silence) else status, log, self.seconds).failure_reason
        if not isinstance(error, Ending | Silence):
            words = f"that answers {error}"
        return KerasBertError(
            f"expected {Path(self.path).name} to run, received a process {words}; the file is damaged, or too large for this machine: "
            "copy or convert it again"
        )


def check_runs(path: str | os.PathLike, length: int | None = None) -> None:
    """Verifies a file, opens it and runs one row, in a process of its own. Raises KerasBertError for one that does not run."""
    check_structure(path)
    file = IsolatedFile(path)
    model = file.open(length)
    model.fill({name: np.ones(port.shape, port.dtype) for name, port in model.inputs.items()})
    model.invoke()
    file.close()


class IsolatedModel(InterpreterModel):
    """A model of an `IsolatedFile` at one length, as `InterpreterModel` is."""

    def __init__(self, file: IsolatedFile, length: int | None, described: dict):
        self._file, self._asked = file, length
        self.name, self.kernels, self.threads = str(file.path), file.kernels, file.threads
        self.signature, self.resizable = described["signature"], described["resizable"]
        self.vocab_size, self.lengths = described["vocab_size"], tuple(described["lengths"])
        self.inputs, self.outputs = (
            {name: Port(tuple(shape), np.dtype(dtype)) for name, (shape, dtype) in described[side].items()}
            for side in ("inputs", "outputs")
        )
        self._operators, self._partitions = described["operators"], described["partitions"]
        self._row: dict[str, np.ndarray] = {}
        self._values: dict[str, np.ndarray] = {}

    def at(self, length: int) -> "IsolatedModel":
        return self._file.open(length)

    def fill(self, inputs) -> None:
        self._row |= inputs

    def invoke(self) -> None:
        self._values = self._file.ask({"ask": "run", "length": self._asked}, self._row)[1]

    def run_each(self, rows):
        """Several go in one message, as many as take little time and memory."""
        rows, together = iter(rows), 1
        while chunk := list(itertools.islice(rows, together)):
            for inputs in chunk:
                self.check(inputs)
            stacked = {name: np.stack([inputs[name] for inputs in chunk]) for name in chunk[0]}
            started = time.monotonic()
            found = self._file.ask({"ask": "run", "length": self._asked, "rows": len(chunk)}, stacked)[1]
            each = (time.monotonic() - started) / len(chunk)
            size = sum(values.nbytes for values in found.values()) // len(chunk)
            together = int(
                max(1, min(_MOST_ROWS, _TOGETHER_SECONDS / max(each, 1e-9), _TOGETHER_BYTES // max(size, 1)))
            )
            yield from ({name: values[i] for name, values in found.items()} for i in range(len(chunk)))

    def fetch(self) -> dict[str, np.ndarray]:
        return dict(self._values)

    @property
    def ops_by_backend(self):
        return self._operators

    @property
    def partitions(self):
        return self._partitions


def _ended(process: subprocess.Popen, log) -> None:
    for pipe in (process.stdin, process.stdout):
        pipe.close()
    process.kill()
    process.wait()
    log.close()
