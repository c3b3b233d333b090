"""Sentence vectors of a file on LiteRT's GPU accelerator, in a process of its own."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

SECONDS = 3600.0


def gpu_vectors(
    path: Path, texts: Sequence[str], hardware: str, environment: Mapping[str, str] | None = None
) -> tuple[np.ndarray, str]:
    """Encode texts, in the precision that is the device's default.

    Args:
        path: A file of sentence vectors.
        texts: The texts.
        hardware: `gpu`, or `gpu+cpu` for a file that the accelerator does not take whole.
        environment: Variables that choose a Vulkan driver.

    Returns:
        float32 vectors `(texts, dimensions)`, and the device with the operators that it left to the CPU.

    Raises:
        SystemExit: When no device ran the file.
    """
    from kerasbert.export.backends.gpu import WORKER
    from kerasbert.export.backends.subprocesses.gpu_log import GpuLog
    from kerasbert.export.runtime.opening import open_pipeline
    from kerasbert.export.runtime.process import run_module
    from kerasbert.export.validation.context import read_outputs

    predictor = open_pipeline(path)
    features = predictor.processor.features(list(texts), predictor.tokenizer, predictor.length)
    inputs = features.pack(np.arange(len(texts)), predictor.length, predictor.tokenizer.pad_id)
    with tempfile.TemporaryDirectory() as folder:
        rows, outputs = Path(folder) / "rows.npz", Path(folder) / "outputs.npz"
        np.savez(rows, **inputs)
        result = run_module(WORKER, (path, rows, outputs, hardware, "device"), SECONDS, environment)
        log = GpuLog.of(result.log)
        if not result.ok or not log.adapter:
            raise SystemExit(f"expected the vectors from a GPU, received none: {log.fault or result.failure_reason}")
        vectors = next(iter(read_outputs(outputs)[0].values()))
    return vectors, "; ".join(filter(None, (log.adapter, log.remark)))
