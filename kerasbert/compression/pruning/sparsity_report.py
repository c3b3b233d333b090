"""Fractions of zeros in a task, and the size of a file after compression."""

import gzip
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tensorflow as tf

from kerasbert.compression.pruning.magnitude import prunable_kernels
from kerasbert.errors import KerasBertError
from kerasbert.layers.traversal import dense_layers
from kerasbert.tasks.base import Task

_CHUNK = 1 << 20
_ACCIDENTAL = 0.01  # checkpoints that went through 16-bit floats have a few zeros without any pruning


@dataclass(frozen=True)
class SparsityReport:
    """Fractions of weights that are exactly 0.

    Attributes:
        kernels: Of each Dense kernel and of the token embeddings, by path.
        dense: Of all Dense kernels together.
        total: Of all trained variables, including tables, biases and norms: what compression of a file can gain from.

    Example:
        ```python
        from kerasbert.compression import sparsity_report
        report = sparsity_report("runs/mine")
        report.dense, report.total
        ```
    """

    kernels: dict[str, float]
    dense: float
    total: float


def sparsity_report(task: Task | str | os.PathLike) -> SparsityReport:
    """Count the zeros of a task, or of the task saved in a folder.

    Unstructured zeros make TFLite no faster. XNNPACK has sparse kernels for 1x1 convolutions of convolutional networks only (its README in
    TensorFlow, "Sparse Inference"); a fully connected operator multiplies zeros like other values. Zeros make a compressed file smaller,
    see `gzip_size`.

    Args:
        task: A task, or the folder of a saved one.

    Returns:
        The fractions, from 0 to 1.

    Raises:
        KerasBertError: When the folder holds no task.

    Example:
        ```python
        from kerasbert.compression import sparsity_report
        report = sparsity_report(task)
        report.dense, report.kernels  # of all Dense kernels together, and of each by path
        ```
    """
    if isinstance(task, str | os.PathLike):
        from kerasbert.tasks.auto import load_task

        task = load_task(task)
    return SparsityReport(
        {path: _zero_fraction([kernel]) for path, kernel in prunable_kernels(task).items()},
        _zero_fraction([dense.kernel for dense in dense_layers(task)]),
        _zero_fraction(list(task.variables_by_path().values())),
    )


def pruned_kernels(task: Task) -> dict[str, float]:
    """Return the fraction of zeros of each pruned kernel, by path: those with at least 1 % zeros, but not of zeros alone.

    Args:
        task: The task.

    Returns:
        The fractions, from 0 to 1.

    Example:
        ```python
        from kerasbert.compression import pruned_kernels
        pruned_kernels(task)  # {} for a task that was not pruned
        ```
    """
    fractions = {path: _zero_fraction([kernel]) for path, kernel in prunable_kernels(task).items()}
    return {path: fraction for path, fraction in fractions.items() if _ACCIDENTAL <= fraction < 1}


def gzip_size(path: str | os.PathLike) -> int:
    """Return the size in bytes of a file after gzip at its highest level: about the size of a download or in an app package.

    Args:
        path: The file.

    Returns:
        The size in bytes.

    Raises:
        KerasBertError: When there is no such file.

    Example:
        ```python
        from kerasbert.compression import gzip_size
        gzip_size("mine.tflite")
        ```
    """
    path = Path(path)
    if not path.is_file():
        raise KerasBertError(f"expected a file {path}, received no such file")
    counter = _ByteCounter()
    with path.open("rb") as source, gzip.GzipFile(fileobj=counter, mode="wb", compresslevel=9, mtime=0) as compressed:
        while block := source.read(_CHUNK):
            compressed.write(block)
    return counter.size


class _ByteCounter:
    """A file object that discards what is written and counts the bytes."""

    def __init__(self):
        self.size = 0

    def write(self, data: bytes) -> int:
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""


def _zero_fraction(variables: Sequence[tf.Variable]) -> float:
    zeros = sum(int(tf.math.count_nonzero(variable == 0)) for variable in variables)
    return zeros / sum(variable.shape.num_elements() for variable in variables)
