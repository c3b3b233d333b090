"""Runs a `.tflite` model in a process of its own: a crash of the runtime, a hang or excessive memory becomes an error of one line."""

import functools
import itertools
import os
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.messages import Channel, ChannelClosed, ChannelTimeout
from kerasbert.export.runtime.process import ProcessResult
from kerasbert.export.runtime.session import Inputs, Port, Run, Session
from kerasbert.sharing import ThreadLock

SECONDS = 120.0  # for opening a file, and for one row
_LAST_SECONDS = 5.0  # for a process that closed its pipe to end
_MAX_ROWS, _MAX_SECONDS, _MAX_BYTES = 64, 0.25, 8 << 20  # of one message
_COMMAND = (sys.executable, "-P", "-m", "kerasbert.export.runtime.session_worker")


class WorkerProcess:
    """A file that is open in a process of its own. The process starts at once and ends with this object.

    Several threads may use it, which take turns. After a fault, and in a forked process, the next request starts another process.

    Args:
        path: The file.
        threads: CPU threads of the runtime.
        kernels: The kernel set, see `open_model`.
        seconds: The time limit for opening the file, and for one row.
    """

    def __init__(self, path: str | os.PathLike, threads: int = 1, kernels: str = "xnnpack", seconds: float = SECONDS):
        self.path, self.threads, self.kernels, self.seconds = path, threads, kernels, seconds
        self._lock, self._closed = ThreadLock(str(path)), False
        self._worker: _Worker | None = self._start()

    def open(self, length: int | None = None) -> Session:
        """Open the model at a length; None takes any that the file has.

        Raises:
            KerasBertError: as `open_model` does, and when the process ended.
        """
        described = self.request({"request": "open", "length": length})[0]
        inputs, outputs = (
            {name: Port(tuple(shape), np.dtype(dtype)) for name, (shape, dtype) in described[side].items()}
            for side in ("inputs", "outputs")
        )
        placement = described["partitions"], described["operators"]
        return Session(
            str(self.path), self.kernels, self.threads, inputs, outputs, functools.partial(self._run_each, length), self.open,
            described["signature"], described["resizable"], tuple(described["lengths"]), described["vocab_size"],
            placement=lambda: placement,
        )  # fmt: skip

    def _run_each(self, length: int | None, examples: Iterable[Inputs]) -> Iterator[Run]:
        """Run examples at a length, several a message, as many as take little time and memory."""
        remaining, count = iter(examples), 1
        while chunk := list(itertools.islice(remaining, count)):
            stacked = {name: np.stack([inputs[name] for inputs in chunk]) for name in chunk[0]}
            started = time.monotonic()
            outputs = self.request({"request": "run", "length": length, "rows": len(chunk)}, stacked)[1]
            seconds = (time.monotonic() - started) / len(chunk)
            size = sum(values.nbytes for values in outputs.values()) // len(chunk)
            count = int(max(1, min(_MAX_ROWS, _MAX_SECONDS / max(seconds, 1e-9), _MAX_BYTES // max(size, 1))))
            yield from (({name: values[i] for name, values in outputs.items()}, seconds) for i in range(len(chunk)))

    def request(
        self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Send a message and return the reply of the process.

        Raises:
            KerasBertError: when the process reports an error, ended, or did not reply in time.
        """
        with self._lock.held:
            if self._closed:
                raise KerasBertError(f"expected {Path(self.path).name} open, received it closed; open it again")
            worker = self._worker
            if worker is None or worker.owner != os.getpid():
                worker = self._worker = self._start()
            try:
                worker.channel.send(header, arrays)
                reply, values = worker.channel.receive(self.seconds)
            except BaseException as error:
                self._worker = None  # its next message may be the reply to this request
                if not isinstance(error, ChannelClosed | ChannelTimeout | ValueError | KeyError | TypeError):
                    worker.end()
                    raise
                raise self._failure(worker, error) from None
        if "error" in reply:
            raise KerasBertError(reply["error"])
        return reply, values

    def close(self) -> None:
        """Ends the process; a request of another thread fails."""
        self._closed = True
        if (worker := self._worker) is not None:
            worker.kill()
            with self._lock.held:  # the thread that waits for the reply reads the pipe
                worker.end()

    def _start(self) -> "_Worker":
        return _Worker([*_COMMAND, os.fspath(self.path), str(self.threads), self.kernels])

    def _failure(self, worker: "_Worker", error: Exception) -> KerasBertError:
        """Ends the process and returns an error with its reason."""
        if not isinstance(error, ChannelClosed):
            worker.kill()
        status, log = worker.last_words()
        if self._closed:
            return KerasBertError(
                f"expected {Path(self.path).name} open until its outputs are there, received a call of close; call it later"
            )
        timed_out = isinstance(error, ChannelTimeout)
        reason = ProcessResult(None if timed_out else status, log, self.seconds).failure_reason
        if not isinstance(error, ChannelClosed | ChannelTimeout):
            reason = f"that answers {error}"
        return KerasBertError(
            f"expected {Path(self.path).name} to run, received a process {reason}; the file is damaged, or too large for this machine: "
            "copy or convert it again"
        )


class _Worker:
    """A process of `session_worker`, which ends with this object.

    Attributes:
        process: The process.
        channel: The pipes to it.
        owner: The process that started it: another one, forked later, must not use it.
    """

    def __init__(self, command: Sequence[str]):
        self._log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, bufsize=0, start_new_session=True
        )
        stdout, stdin = _pipe(self.process.stdout), _pipe(self.process.stdin)
        self.channel, self.owner = Channel(stdout.fileno(), stdin.fileno()), os.getpid()
        self.end = weakref.finalize(self, _end_process, self.process, self._log, self.owner)

    def kill(self) -> None:
        """Ends the process, and leaves the pipes open."""
        if self.owner == os.getpid():
            self.process.kill()

    def last_words(self) -> tuple[int, str]:
        """Return the exit status of a process that ends, and what it printed; closes the pipes."""
        try:
            status = self.process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        self.end()
        return status, "\n".join(line for line in lines if not line.startswith("INFO:"))


def check_runs(path: str | os.PathLike, length: int | None = None) -> None:
    """Open a verified file and run one row, in a process of its own.

    Raises:
        KerasBertError: when the file does not run.
    """
    file = WorkerProcess(path)
    file.open(length).run_ones()
    file.close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise KerasBertError("expected a process with pipes, received one without; report this as a bug")
    return stream


def _end_process(process: subprocess.Popen, log: IO[bytes], owner: int) -> None:
    _pipe(process.stdin).close()
    _pipe(process.stdout).close()
    if owner == os.getpid():
        process.kill()
        process.wait()
    else:
        process.returncode = 0  # the process of another one: nothing to wait for here
    log.close()
