"""Runs a `.tflite` model in a process of its own: a crash of the runtime, a hang or excessive memory becomes an error of one line."""

import itertools
import os
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.subprocesses.process import ProcessResult
from kerasbert.export.runtime.messages import Channel, ChannelClosed, ChannelTimeout
from kerasbert.export.runtime.runnable_model import Port, RunnableModel
from kerasbert.export.tflite.reader import check_structure

SECONDS = 120.0  # for opening a file, and for one row
_LAST_SECONDS = 5.0  # for a process that closed its pipe to end
_MAX_ROWS, _MAX_SECONDS, _MAX_BYTES = 64, 0.25, 8 << 20  # of one message
_COMMAND = (sys.executable, "-P", "-m", "kerasbert.export.runtime.model_worker")


class IsolatedFile:
    """A file that is open in a process of its own. The process starts at once and ends with this object.

    Args:
        path: The file.
        threads: CPU threads of the runtime.
        kernels: The kernel set, see `open_model`.
        seconds: The time limit for opening the file, and for one row.
    """

    def __init__(self, path: str | os.PathLike, threads: int = 1, kernels: str = "xnnpack", seconds: float = SECONDS):
        self.path, self.threads, self.kernels, self.seconds = path, threads, kernels, seconds
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [*_COMMAND, os.fspath(path), str(threads), kernels],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            start_new_session=True,
        )
        stdout, stdin = _pipe(self._process.stdout), _pipe(self._process.stdin)
        self._channel = Channel(stdout.fileno(), stdin.fileno())
        self._end = weakref.finalize(self, _end_process, self._process, self._log)

    def open(self, length: int | None = None) -> "IsolatedModel":
        """Open the model at a length; None takes any that the file has.

        Raises:
            KerasBertError: as `open_model` does, and when the process ended.
        """
        return IsolatedModel(self, length, self.request({"request": "open", "length": length})[0])

    def request(
        self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Send a message and return the reply of the process.

        Raises:
            KerasBertError: when the process reports an error, ended, or did not reply in time.
        """
        try:
            self._channel.send(header, arrays)
            reply, values = self._channel.receive(self.seconds)
        except (ChannelClosed, ChannelTimeout, ValueError, KeyError, TypeError) as error:
            raise self._failure(error) from None
        if "error" in reply:
            raise KerasBertError(reply["error"])
        return reply, values

    def close(self) -> None:
        """Ends the process."""
        self._end()

    def _failure(self, error: Exception) -> KerasBertError:
        """Ends the process and returns an error with its reason."""
        if not isinstance(error, ChannelClosed):
            self._process.kill()
        try:
            status = self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        log = "\n".join(line for line in lines if not line.startswith("INFO:"))
        self.close()
        timed_out = isinstance(error, ChannelTimeout)
        reason = ProcessResult(None if timed_out else status, log, self.seconds).failure_reason
        if not isinstance(error, ChannelClosed | ChannelTimeout):
            reason = f"that answers {error}"
        return KerasBertError(
            f"expected {Path(self.path).name} to run, received a process {reason}; the file is damaged, or too large for this machine: "
            "copy or convert it again"
        )


def check_runs(path: str | os.PathLike, length: int | None = None) -> None:
    """Verify a file, open it and run one row, in a process of its own.

    Raises:
        KerasBertError: when the file does not run.
    """
    check_structure(path)
    file = IsolatedFile(path)
    model = file.open(length)
    model.fill({name: np.ones(port.shape, port.dtype) for name, port in model.inputs.items()})
    model.invoke()
    file.close()


class IsolatedModel(RunnableModel):
    """A model of an `IsolatedFile` at one length.

    Args:
        file: The open file.
        length: The length that was requested.
        description: The model's attributes, as `model_worker` sends them.
    """

    def __init__(self, file: IsolatedFile, length: int | None, description: Mapping[str, Any]):
        ports = {
            side: {name: Port(tuple(shape), np.dtype(dtype)) for name, (shape, dtype) in description[side].items()}
            for side in ("inputs", "outputs")
        }
        super().__init__(
            str(file.path), file.kernels, file.threads, **ports,
            signature=description["signature"], resizable=description["resizable"], lengths=tuple(description["lengths"]),
            vocab_size=description["vocab_size"],
        )  # fmt: skip
        self._file, self._requested_length = file, length
        self._operators, self._partitions = description["operators"], description["partitions"]
        self._inputs: dict[str, np.ndarray] = {}
        self._outputs: dict[str, np.ndarray] = {}

    def at(self, length: int) -> "IsolatedModel":
        return self._file.open(length)

    def fill(self, inputs: Mapping[str, np.ndarray]) -> None:
        self._inputs |= inputs

    def invoke(self) -> None:
        self._outputs = self._file.request({"request": "run", "length": self._requested_length}, self._inputs)[1]

    def run_each(self, examples: Iterable[Mapping[str, np.ndarray]]) -> Iterator[dict[str, np.ndarray]]:
        """Yield the outputs of many examples, several a message, as many as take little time and memory."""
        remaining, chunk_size = iter(examples), 1
        while chunk := list(itertools.islice(remaining, chunk_size)):
            for inputs in chunk:
                self.check(inputs)
            stacked = {name: np.stack([inputs[name] for inputs in chunk]) for name in chunk[0]}
            header = {"request": "run", "length": self._requested_length, "rows": len(chunk)}
            started = time.monotonic()
            outputs = self._file.request(header, stacked)[1]
            seconds = (time.monotonic() - started) / len(chunk)
            size = sum(values.nbytes for values in outputs.values()) // len(chunk)
            chunk_size = int(max(1, min(_MAX_ROWS, _MAX_SECONDS / max(seconds, 1e-9), _MAX_BYTES // max(size, 1))))
            yield from ({name: values[i] for name, values in outputs.items()} for i in range(len(chunk)))

    def fetch(self) -> dict[str, np.ndarray]:
        return dict(self._outputs)

    @property
    def ops_by_backend(self) -> dict[str, dict[str, int]]:
        return self._operators

    @property
    def partitions(self) -> int | None:
        return self._partitions


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise KerasBertError("expected a process with pipes, received one without; report this as a bug")
    return stream


def _end_process(process: subprocess.Popen, log: IO[bytes]) -> None:
    _pipe(process.stdin).close()
    _pipe(process.stdout).close()
    process.kill()
    process.wait()
    log.close()
