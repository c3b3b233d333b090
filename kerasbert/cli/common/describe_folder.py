"""What `inspect` and `benchmark` say about a saved folder."""

import time
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import read_own_config

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
    """Task, labels, sizes and quantization of a checkpoint folder, read without TensorFlow.

    Raises KerasBertError for what is no checkpoint folder, or a damaged one.
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


def benchmark_folder(name_or_path: str, lengths: list[int] | None, threads: list[int], runs: int):
    """Latency of the Keras model in its own graph, batch 1; a `Benchmark` as for a file. Memory includes TensorFlow's."""
    from kerasbert.export.benchmarking import Benchmark, Measurement
    from kerasbert.export.runtime.interpreters import describe_machine
    from kerasbert.export.validation.checks import Latency

    if len(threads) != 1:
        raise KerasBertError(
            f"expected one thread count for a folder, received {len(threads)}: TensorFlow sets it once a process"
        )
    import tensorflow as tf

    from kerasbert.tasks.auto import load_task

    tf.config.threading.set_intra_op_parallelism_threads(threads[0])
    tf.config.threading.set_inter_op_parallelism_threads(1)
    started = time.perf_counter()
    task = load_task(name_or_path)
    load = time.perf_counter() - started
    measured = []
    for length in lengths or [task.sequence_length]:
        if not 3 <= length <= task.config.longest:
            raise KerasBertError(f"expected a length from 3 to {task.config.longest} tokens, received {length}")
        row = _full_row(length, task.tokenizer.vocabulary_size)
        seconds = [_seconds(task, row) for _ in range(runs + 1)]
        peak = _peak_bytes()
        measured.append(
            Measurement(
                Path(name_or_path).name, length, threads[0], Latency.of(seconds[1:]), load, seconds[0], peak, peak, 0
            )
        )
    return Benchmark(tuple(measured), (), {**describe_machine(), "runtime": f"tensorflow {tf.__version__}"})


def _full_row(length: int, words: int) -> dict[str, np.ndarray]:
    """No padding, varied ids: every position counts."""
    ids = (np.arange(length, dtype=np.int32) * 7919 % words)[None]
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def _seconds(task, row) -> float:
    started = time.perf_counter()
    task.serve_numpy(row)
    return time.perf_counter() - started


def _peak_bytes() -> int:
    import resource
    import sys

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
