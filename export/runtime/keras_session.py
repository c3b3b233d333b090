"""A saved folder in Keras as a session, so that its latency can be compared with that of a file."""

import os
import time

import numpy as np

from kerasbert.export.runtime.session import Inputs, Port, Run, Session, guarded
from kerasbert.ids import INPUT_NAMES

_KERNELS = "tensorflow"


def set_threads(threads: int) -> None:
    """Set the CPU threads of TensorFlow, which is possible only before its first operation.

    Args:
        threads: CPU threads.
    """
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def open_keras(name_or_path: str | os.PathLike, threads: int, length: int | None = None) -> Session:
    """Open a folder, or a name on the hub.

    Args:
        name_or_path: The folder or the name.
        threads: The CPU threads that `set_threads` was called with.
        length: Tokens of a row; None for those of the task.

    Raises:
        KerasBertError: When it cannot be loaded.
    """
    from kerasbert.tasks.auto import load_task

    task = load_task(name_or_path)
    name = os.fspath(name_or_path)

    def run(inputs: Inputs) -> Run:
        start = time.perf_counter()
        outputs = task.serve_numpy(dict(inputs))
        return outputs, time.perf_counter() - start

    run_each = guarded(name, run)

    def at(tokens: int) -> Session:
        inputs = {each: Port((1, tokens), np.dtype("int32")) for each in INPUT_NAMES}
        return Session(name, _KERNELS, threads, inputs, {}, run_each, at, resizable=True)

    return at(length or task.sequence_length)
