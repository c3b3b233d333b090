"""The ranges and equalization scales of a quantized task, in a file beside its weights."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.checkpoints.safetensors_file import read_file
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers


def collect_ranges(task: Any) -> dict[str, np.ndarray]:
    """Return the range and the equalization scales of every static quantizer, as `path.minimum`, `path.maximum`, `path.equalizer`."""
    return {name: variable.numpy() for name, variable in _statistics(task)}


def load_ranges(task: Any, path: Path) -> None:
    """Load saved ranges and equalization scales into a task.

    Raises:
        KerasBertError: When the file or one of the ranges is missing, or a range is not finite.
    """
    if not path.is_file():
        raise KerasBertError(
            f"{path.parent}: expected {path.name} beside a quantized model, received none: was the folder copied whole?"
        )
    saved = read_file(path)
    for name, variable in _statistics(task):
        if name not in saved or saved[name].shape != tuple(variable.shape):
            received = f"shape {saved[name].shape}" if name in saved else f"none among {len(saved)}"
            raise KerasBertError(
                f"{path}: expected {name!r} of shape {tuple(variable.shape)}, received {received}; quantize the model again"
            )
        if not np.isfinite(saved[name]).all():
            raise KerasBertError(
                f"{path}: expected finite numbers in {name!r}, received {saved[name]}; quantize the model again"
            )
        variable.assign(saved[name])


def _statistics(task: Any) -> Iterator[tuple[str, tf.Variable]]:
    for quantizer in activation_quantizers(task):
        for name, variable in quantizer.statistics().items():
            yield f"{quantizer.path}.{name}", variable
