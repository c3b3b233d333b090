"""The names of the files and parts of one model: the `.tflite`, the host's part of a model in two parts, and the metadata beside it."""

import os
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.own_files import HOST, METADATA, MODEL

HIDDEN, BIAS = "hidden", "attention_bias"  # the inputs of an accelerator model (the body): outputs of its host model
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


def sidecar_path(model_path: str | os.PathLike) -> Path:
    """Return `x.tflite.json` for `x.tflite`."""
    path = Path(model_path)
    return path.with_name(f"{path.name}.json")


def written_files(path: str | os.PathLike, host: bool) -> list[tuple[Path, str]]:
    """List the files that saving a model as `path` writes, each with its kind. `host`: whether there is a host model."""
    path = Path(path)
    return [(path, MODEL), (sidecar_path(path), METADATA), *([(host_path(path), HOST)] if host else [])]


def check_host(path: str | os.PathLike | bytes | None) -> Path:
    """Return the path of a body's host model.

    Raises:
        KerasBertError: When the host model is missing, or the body is in memory.
    """
    if path is None or isinstance(path, bytes):
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
