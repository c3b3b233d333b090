"""The worker process of `isolated_session`: runs one file on an interpreter, as its parent requests.

    python -m kerasbert.export.runtime.session_worker PATH THREADS KERNELS

It ends with its parent: when the pipe closes, and within a second after the parent was killed.
"""

import contextlib
import os
import resource
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH, find_runtime, open_model
from kerasbert.export.runtime.messages import Channel, ChannelClosed
from kerasbert.export.runtime.runner import Runner
from kerasbert.export.runtime.session import Port, Session
from kerasbert.export.tflite.metadata import TEXT, read

# Memory beyond that of the imports: weights are packed once more, and activations come on top.
MEMORY, MEMORY_PER_BYTE = 768 << 20, 4


def main() -> None:
    """Reply to requests until the parent closes the pipe."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    channel = Channel(os.dup(0), os.dup(1))
    os.dup2(2, 1)  # libraries print to standard output
    worker = _Worker(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    find_runtime()  # imported before memory is limited
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ChannelClosed):
        while True:
            header, arrays = channel.receive()
            try:
                reply, outputs = worker.reply(header, arrays)
            except KerasBertError as error:
                reply, outputs = {"error": str(error)}, None
            except MemoryError:
                reply, outputs = {"error": worker.memory_error()}, None
            channel.send(reply, outputs)


def _end_with_parent(parent: int) -> None:
    """Ends the process if the parent was killed while a row runs.

    `die_with_parent` does not fit, because it follows the thread that started the process, which may end earlier.
    """
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


class _Worker:
    """One file, opened at each requested length."""

    def __init__(self, path: str, threads: int, kernels: str):
        self.path, self.threads, self.kernels = path, threads, kernels
        self.models = Runner(self._open)

    def reply(
        self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, Any], dict[str, np.ndarray] | None]:
        model = self.models.at(header["length"])
        if header["request"] == "open":
            return _describe(model), None
        rows = ({name: values[number] for name, values in arrays.items()} for number in range(header["rows"]))
        outputs = [each for each, _ in model.run_rows(rows)]
        return {}, {name: np.stack([each[name] for each in outputs]) for name in outputs[0]}

    def memory_error(self) -> str:
        name = Path(self.path).name
        return f"expected {name} to run in little memory, received a request for more; convert the model again"

    def _open(self, length: int | None) -> Session:
        _limit_memory(self.path)
        return open_model(self.path, self.threads, self.kernels, length, True, DEFAULT_LENGTH)


def _limit_memory(path: str) -> None:
    """Limits the memory of this process by the file's size, because a damaged file may request terabytes.

    Systems without such a limit, and files that need TensorFlow, go without.
    """
    with contextlib.suppress(OSError, ValueError, StopIteration, KerasBertError):
        metadata = read(path)
        if metadata is not None and metadata.inputs == TEXT:
            return  # tensorflow-text imports TensorFlow
        lines = Path("/proc/self/status").read_text().splitlines()
        used = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
        limit = used + MEMORY + MEMORY_PER_BYTE * os.path.getsize(path)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _describe(model: Session) -> dict[str, Any]:
    def describe_ports(ports: Mapping[str, Port]) -> dict[str, list]:
        return {name: [list(port.shape), port.dtype.str] for name, port in ports.items()}

    return {
        "inputs": describe_ports(model.inputs),
        "outputs": describe_ports(model.outputs),
        "signature": model.signature,
        "resizable": model.resizable,
        "lengths": list(model.lengths),
        "vocab_size": model.vocab_size,
        "operators": model.ops_by_backend,
        "partitions": model.partitions,
    }


if __name__ == "__main__":
    main()
