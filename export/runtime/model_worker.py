"""The child of `isolated_model`: one file on an interpreter, run as the parent asks.

    python -m kerasbert.export.runtime.model_worker PATH THREADS KERNELS

It ends with its parent: when the pipe closes, and within a second when the parent was killed.
"""

import contextlib
import os
import resource
import sys
import threading
import time
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import InterpreterModel
from kerasbert.export.runtime.interpreters import find_runtime, open_at_any_length, open_model
from kerasbert.export.runtime.messages import Channel, Ending
from kerasbert.export.tflite.metadata import TEXT

MEMORY, MEMORY_PER_BYTE = (
    768 << 20,
    4,
)  # beyond what the imports took: weights are packed once more, and activations come on top


def main() -> None:
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    channel = Channel(os.dup(0), os.dup(1))
    os.dup2(2, 1)  # libraries print there
    path, threads, kernels = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    find_runtime()  # imported before memory is limited
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    models: dict[int | None, InterpreterModel] = {}
    with contextlib.suppress(Ending):
        while True:
            header, arrays = channel.receive()
            try:
                answer = _answer(models, header, arrays, path, threads, kernels)
            except KerasBertError as error:
                answer = ({"error": str(error)},)
            except MemoryError:
                answer = (
                    {"error": f"expected {Path(path).name} to run in little memory, received a request for more"},
                )
            channel.send(*answer)


def _end_with_parent(parent: int) -> None:
    """For a parent that was killed while a row runs here. Not `die_with_parent`: that goes by the thread that started us, which may end."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _answer(models: dict, header: dict, arrays: dict, path: str, threads: int, kernels: str) -> tuple:
    length = header["length"]
    if header["ask"] == "open":
        models[length] = model = _opened(models, length, path, threads, kernels)
        return (_described(model),)
    model = models[length]
    if "rows" not in header:
        return {}, _outputs(model, arrays)
    found = [_outputs(model, {name: values[i] for name, values in arrays.items()}) for i in range(header["rows"])]
    return {}, {name: np.stack([outputs[name] for outputs in found]) for name in found[0]}


def _outputs(model: InterpreterModel, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    model.fill(inputs)
    model.invoke()
    return model.fetch()


def _opened(models: dict, length: int | None, path: str, threads: int, kernels: str) -> InterpreterModel:
    other = next(iter(models.values()), None)
    if other is not None and other.lengths:
        return other.at(length)
    _limit_memory(path)
    if length is None:
        return open_at_any_length(path, threads, kernels, verified=True)
    return open_model(path, threads, kernels, length, verified=True)


def _limit_memory(path: str) -> None:
    """A damaged file asks for terabytes, or fills the machine. Systems that know no such limit go without."""
    from kerasbert.export.tflite.metadata import read

    with contextlib.suppress(OSError, ValueError, StopIteration, KerasBertError):
        card = read(path)
        if card is not None and card.inputs == TEXT:
            return  # TensorFlow comes along
        lines = Path("/proc/self/status").read_text().splitlines()
        now = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
        most = now + MEMORY + MEMORY_PER_BYTE * os.path.getsize(path)
        resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _described(model: InterpreterModel) -> dict:
    def ports(side) -> dict:
        return {name: [list(port.shape), port.dtype.str] for name, port in side.items()}

    return {
        "inputs": ports(model.inputs),
        "outputs": ports(model.outputs),
        "signature": model.signature,
        "resizable": model.resizable,
        "lengths": list(model.lengths),
        "vocab_size": model.vocab_size,
        "operators": model.ops_by_backend,
        "partitions": model.partitions,
    }


if __name__ == "__main__":
    main()
