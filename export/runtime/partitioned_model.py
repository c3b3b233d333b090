"""Two files that run as one model: ids to vectors on the host, and a body of integers alone behind it (`split_file` makes them)."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import InterpreterModel, Port
from kerasbert.export.tflite.metadata import sidecar_path
from kerasbert.files.own_files import HOST, METADATA, MODEL

HIDDEN, BIAS = "hidden", "attention_bias"
_HOST = ".host.tflite"
_COMPILED = "_edgetpu"  # what the Edge TPU's compiler adds to a name


def host_path(path: str | os.PathLike) -> Path:
    """Where the host's file of a body lies: `NAME.host.tflite`, also for a body that was compiled to `NAME_edgetpu.tflite`."""
    path = Path(path)
    return path.with_name(path.stem.removesuffix(_COMPILED) + _HOST)


def compiled_path(path: str | os.PathLike) -> Path:
    """Where the compiled body lies."""
    path = Path(path)
    return path.with_name(f"{path.stem}{_COMPILED}{path.suffix}")


def written_files(path: str | os.PathLike, host: bool) -> list[tuple[Path, str]]:
    """What saving a model as `path` writes: each file, with its kind. host: whether there is a part for the host."""
    path = Path(path)
    return [(path, MODEL), (sidecar_path(path), METADATA), *([(host_path(path), HOST)] if host else [])]


def is_body(model: InterpreterModel) -> bool:
    """Whether a model takes what a host's file gives."""
    return set(model.inputs) == {HIDDEN, BIAS}


def check_host(path: str | os.PathLike | bytes) -> Path:
    """The host's file of a body. Raises KerasBertError where there is none."""
    if isinstance(path, bytes):
        raise KerasBertError(
            "expected the path of a file in two parts, received bytes of its body; save both parts, and pass the path"
        )
    host = host_path(path)
    if not host.is_file():
        raise KerasBertError(
            f"expected {host.name} beside {Path(path).name}, the part that makes vectors of ids, received no such file; copy it there, or "
            "convert the model again"
        )
    return host


class PartitionedModel(InterpreterModel):
    """As one model: inputs and length are the host's, outputs the body's in float32, operators the body's."""

    def __init__(self, host: InterpreterModel, body: InterpreterModel):
        self.host, self.body = host, body
        self.vocab_size, self.name, self.kernels, self.threads = body.vocab_size, body.name, body.kernels, body.threads
        self.signature, self.resizable, self.lengths = body.signature, False, ()
        given, taken = host.outputs, body.inputs
        if given != taken:
            raise KerasBertError(
                f"expected {host.name} to give what {body.name} takes, received {_told(given)} for {_told(taken)}; "
                "convert the model again"
            )
        self.inputs = host.inputs
        self.outputs = {name: Port(port.shape, np.dtype("float32")) for name, port in body.outputs.items()}

    def at(self, length: int) -> "PartitionedModel":
        raise KerasBertError(f"expected the length {self.length} of {self.name}, received {length}")

    def fill(self, inputs: Mapping[str, np.ndarray]) -> None:
        self.host.fill(inputs)

    def invoke(self) -> None:
        self.host.invoke()
        self.body.fill(self.host.fetch())
        self.body.invoke()

    def fetch(self) -> dict[str, np.ndarray]:
        return {name: _real(values, *self.body.grid(name)) for name, values in self.body.fetch().items()}

    @property
    def ops_by_backend(self):
        return self.body.ops_by_backend

    @property
    def partitions(self):
        return self.body.partitions


def _real(values: np.ndarray, step: float, zero: int) -> np.ndarray:
    """The numbers that 8-bit values stand for."""
    return values if values.dtype == np.float32 else (values.astype(np.float32) - zero) * np.float32(step)


def _told(ports: Mapping[str, Port]) -> str:
    return ", ".join(f"{name} {port.dtype} {port.shape}" for name, port in sorted(ports.items()))
