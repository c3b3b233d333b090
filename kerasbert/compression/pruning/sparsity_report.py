"""How many zeros a task has, and what compression makes of its file."""

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import tensorflow as tf

from kerasbert.compression.pruning.magnitude import prunable
from kerasbert.errors import KerasBertError
from kerasbert.layers.traversal import dense_layers

_CHUNK = 1 << 20
_ACCIDENTAL = 0.01  # checkpoints that went through 16-bit floats have some zeros that nobody pruned


@dataclass(frozen=True)
class SparsityReport:
    """Shares of weights that are exactly 0.

    kernels: of every dense kernel, and of the word table, by path. dense: of all dense kernels together. total: of all that the task
    trains, tables, biases and norms too: what a compressed file can gain from.
    """

    kernels: dict[str, float]
    dense: float
    total: float


def sparsity_report(task) -> SparsityReport:
    """Counts the zeros of a task, or of the task saved in a folder.

    Zeros make nothing faster in TFLite: XNNPACK has sparse kernels for 1x1 convolutions of convolutional networks only (its README in
    TensorFlow, "Sparse Inference"), and multiplies the zeros of a fully connected operator like other numbers. What they make smaller is a
    file that is compressed on its way, see `gzip_size`.

    Raises KerasBertError for a folder that holds no task.
    """
    if isinstance(task, str | os.PathLike):
        from kerasbert.tasks.auto import load_task

        task = load_task(task)
    return SparsityReport(
        {path: _share([kernel]) for path, kernel in prunable(task).items()},
        _share([dense.kernel for dense in dense_layers(task)]),
        _share(list(task.variables_by_path().values())),
    )


def zeros_of(task) -> dict[str, float]:
    """The kernels that have been pruned, by path, and their shares of zeros: at least one in a hundred, and not all."""
    shares = {path: _share([kernel]) for path, kernel in prunable(task).items()}
    return {path: share for path, share in shares.items() if _ACCIDENTAL <= share < 1}


def gzip_size(path: str | os.PathLike) -> int:
    """The bytes of a file, such as a `.tflite`, after gzip at its best: about what a download or an app package takes.

    Raises KerasBertError where there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise KerasBertError(f"expected a file {path}, received no such file")
    counted = _Counter()
    with path.open("rb") as source, gzip.GzipFile(fileobj=counted, mode="wb", compresslevel=9, mtime=0) as packed:
        while block := source.read(_CHUNK):
            packed.write(block)
    return counted.size


class _Counter:
    """A file that only counts what is written."""

    def __init__(self):
        self.size = 0

    def write(self, data) -> int:
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        pass


def _share(variables: list[tf.Variable]) -> float:
    zeros = sum(int(tf.math.count_nonzero(variable == 0)) for variable in variables)
    return zeros / sum(variable.shape.num_elements() for variable in variables)
