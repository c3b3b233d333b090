"""Runs two files as one model: the host model turns ids into vectors, the accelerator model (the body) computes with integers only.

`kerasbert.export.lowering.partition` makes such files.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import InterpreterModel
from kerasbert.export.runtime.runnable_model import Port, RunnableModel
from kerasbert.export.tflite.metadata import sidecar_path
from kerasbert.files.own_files import HOST, METADATA, MODEL

HIDDEN, BIAS = "hidden", "attention_bias"
_HOST = ".host.tflite"
_COMPILED = "_edgetpu"  # the suffix that the Edge TPU's compiler adds to a name


def host_path(path: str | os.PathLike) -> Path:
    """Return the path of a body's host model: `NAME.host.tflite`, also for a body that was compiled to `NAME_edgetpu.tflite`."""
    path = Path(path)
    return path.with_name(path.stem.removesuffix(_COMPILED) + _HOST)


def compiled_path(path: str | os.PathLike) -> Path:
    """Return the path of a compiled body."""
    path = Path(path)
    return path.with_name(f"{path.stem}{_COMPILED}{path.suffix}")


def written_files(path: str | os.PathLike, host: bool) -> list[tuple[Path, str]]:
    """List the files that saving a model as `path` writes, each with its kind. `host`: whether there is a host model."""
    path = Path(path)
    return [(path, MODEL), (sidecar_path(path), METADATA), *([(host_path(path), HOST)] if host else [])]


def is_body(model: RunnableModel) -> bool:
    """Return whether a model takes the outputs of a host model."""
    return set(model.inputs) == {HIDDEN, BIAS}


def check_host(path: str | os.PathLike | bytes) -> Path:
    """Return the path of a body's host model.

    Raises:
        KerasBertError: when the host model is missing, or the body is in memory.
    """
    if isinstance(path, bytes):
        raise KerasBertError(
            "expected the path of a partitioned model, received bytes of its body; save both parts, and pass the path"
        )
    host = host_path(path)
    if not host.is_file():
        raise KerasBertError(
            f"expected {host.name} beside {Path(path).name}, the part that makes vectors of ids, received no such file; copy it there, or "
            "convert the model again"
        )
    return host


class PartitionedModel(RunnableModel):
    """Two files as one model: inputs and length of the host model; operators of the body, and its outputs in float32.

    Attributes:
        host: The host model.
        body: The accelerator model.

    Raises:
        KerasBertError: When the outputs of the host model do not fit the accelerator model.
    """

    def __init__(self, host: RunnableModel, body: InterpreterModel):
        if host.outputs != body.inputs:
            raise KerasBertError(
                f"expected outputs of {host.name} that fit {body.name}, received {_format_ports(host.outputs)} for "
                f"{_format_ports(body.inputs)}; convert the model again"
            )
        super().__init__(
            body.name, body.kernels, body.threads,
            inputs=host.inputs, outputs={name: Port(port.shape, np.dtype("float32")) for name, port in body.outputs.items()},
            signature=body.signature, vocab_size=body.vocab_size,
        )  # fmt: skip
        self.host, self.body = host, body

    def at(self, length: int) -> "PartitionedModel":
        raise KerasBertError(
            f"expected the length {self.length} of {self.name}, received {length}; convert the model for that length"
        )

    def run_unlocked(self, inputs: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float]:
        vectors, host_seconds = self.host.run_unlocked(inputs)
        outputs, body_seconds = self.body.run_unlocked(vectors)
        dequantized = {name: _dequantize(values, *self.body.quantization(name)) for name, values in outputs.items()}
        return dequantized, host_seconds + body_seconds

    @property
    def ops_by_backend(self) -> dict[str, dict[str, int]]:
        return self.body.ops_by_backend

    @property
    def partitions(self) -> int | None:
        return self.body.partitions


def _dequantize(values: np.ndarray, scale: float, zero_point: int) -> np.ndarray:
    return values if values.dtype == np.float32 else (values.astype(np.float32) - zero_point) * np.float32(scale)


def _format_ports(ports: Mapping[str, Port]) -> str:
    return ", ".join(f"{name} {port.dtype} {port.shape}" for name, port in sorted(ports.items()))
