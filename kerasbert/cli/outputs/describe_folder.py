"""The results of `inspect` and `benchmark` for a saved folder."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import read_own_config

if TYPE_CHECKING:
    from kerasbert.export.measurement.benchmarking import Benchmark
    from kerasbert.tasks.base import Task

_SETTINGS = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "vocab_size",
    "max_position_embeddings",
)


def describe_folder(name_or_path: str) -> dict[str, object]:
    """Return task, labels, sizes and quantization of a checkpoint folder. Needs no TensorFlow.

    Args:
        name_or_path: The folder, or a hub name.

    Raises:
        KerasBertError: When there is no such checkpoint, or it is damaged.
    """
    from kerasbert.checkpoints.hugging_face import label_names, read_config, resolve
    from kerasbert.checkpoints.readers import find_weight_files, read_tensors

    folder = resolve(name_or_path)
    config, tensors, own = read_config(folder), read_tensors(folder), read_own_config(folder)
    settings = own.get("settings", {})
    architectures = config.get("architectures") or ["unknown"]
    return {
        "folder": str(folder),
        "task": own.get("task")
        or ", ".join(map(str, architectures if isinstance(architectures, list) else [architectures])),
        "problem": settings.get("problem") or config.get("problem_type") or "unknown",
        "labels": settings.get("labels") or label_names(config),
        "sequence_length": settings.get("sequence_length") or "not set",
        "quantization": own.get("quantization", {}).get("recipe") or "none",
        "model_type": config.get("model_type"),
        **{name: config[name] for name in _SETTINGS if name in config},
        "parameters": sum(int(values.size) for values in tensors.values()),
        "weights_bytes": sum(path.stat().st_size for path in find_weight_files(folder)),
    }


def benchmark_folder(
    name_or_path: str, lengths: Sequence[int] | None, threads: Sequence[int], runs: int
) -> "Benchmark":
    """Measure the latency of a Keras model as a graph, with batch size 1. Memory includes that of TensorFlow.

    Args:
        name_or_path: The folder, or a hub name.
        lengths: Sequence lengths; None for the model's own.
        threads: The number of CPU threads, one value.
        runs: The number of timed runs.

    Raises:
        KerasBertError: When there are several thread counts, or a length that the model cannot read.
    """
    from kerasbert.export.measurement.benchmarking import Benchmark, Measurement
    from kerasbert.export.runtime.interpreters import describe_machine
    from kerasbert.export.validation.checks import Latency

    if len(threads) != 1:
        raise KerasBertError(
            f"expected one --threads for a folder, received {len(threads)}; TensorFlow sets it once per process, so run the command again"
        )
    import tensorflow as tf

    from kerasbert.tasks.auto import load_task

    tf.config.threading.set_intra_op_parallelism_threads(threads[0])
    tf.config.threading.set_inter_op_parallelism_threads(1)
    started = time.perf_counter()
    task = load_task(name_or_path)
    load = time.perf_counter() - started
    measurements = []
    for length in lengths or [task.sequence_length]:
        if not 3 <= length <= task.config.longest:
            raise KerasBertError(
                f"expected --length from 3 to {task.config.longest} (the positions of this model), received {length}"
            )
        row = _full_row(length, task.tokenizer.vocabulary_size)
        seconds = [_seconds(task, row) for _ in range(runs + 1)]
        peak = _peak_bytes()
        measurements.append(
            Measurement(
                Path(name_or_path).name, length, threads[0], Latency.of(seconds[1:]), load, seconds[0], peak, peak, 0
            )
        )
    return Benchmark(tuple(measurements), (), {**describe_machine(), "runtime": f"tensorflow {tf.__version__}"})


def _full_row(length: int, vocabulary_size: int) -> dict[str, np.ndarray]:
    """Return inputs of shape (1, length) with varied ids and without padding."""
    ids = (np.arange(length, dtype=np.int32) * 7919 % vocabulary_size)[None]
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def _seconds(task: "Task", row: dict[str, np.ndarray]) -> float:
    started = time.perf_counter()
    task.serve_numpy(row)
    return time.perf_counter() - started


def _peak_bytes() -> int:
    import resource
    import sys

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
