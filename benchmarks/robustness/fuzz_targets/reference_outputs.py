"""The reader of outputs that a model is validated against."""

import io
from pathlib import Path

import numpy as np

from benchmarks.robustness.fuzz_targets.target import Target


def _npz(folder: Path) -> None:
    from kerasbert.export.validation.reference import npz_reference

    reference = npz_reference(folder / "a.npz")
    inputs = reference.data.x
    reference.outputs(inputs, np.arange(len(inputs["input_ids"])))


def _npzs() -> list[dict[str, bytes]]:
    ids = np.arange(12, dtype=np.int32).reshape(3, 4)
    arrays = {"input_ids": ids, "attention_mask": np.ones_like(ids), "probabilities": np.full((3, 2), 0.5, np.float32)}
    seeds = []
    for save in (np.savez, np.savez_compressed):
        stream = io.BytesIO()
        save(stream, **arrays, labels=np.array(["a", "b", "a"]))
        seeds.append({"a.npz": stream.getvalue()})
    return seeds


TARGETS = [Target(".npz", _npz, _npzs)]
