"""The vectors of `kerasbert predict --out`: a NumPy file of sentence vectors, or of the hidden states of a layer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.cli.outputs.destinations import check_new_file
from kerasbert.cli.outputs.results import Result
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.processors import Processor
from kerasbert.processors.embedding import Embedding

if TYPE_CHECKING:
    from kerasbert.tasks.layer_vectors import TokenVectors


def check_vectors_file(out: Path, overwrite: bool, vectors: str | None = None) -> None:
    """Check that vectors can be written to a file.

    Args:
        out: The file.
        overwrite: Whether an existing file may be replaced.
        vectors: The kind of vectors of a layer; None for those of a sentence encoder.

    Raises:
        KerasBertError: When it cannot be written, or exists and may not be replaced.
    """
    check_new_file(out, overwrite, ".npz" if vectors == "tokens" else ".npy")


def check_has_vectors(processor: Processor, out: Path | None) -> None:
    """Check that the model of a processor returns vectors, if they are to be written.

    Args:
        processor: The processor.
        out: The file for the vectors, or None.

    Raises:
        KerasBertError: When the model returns none.
    """
    if out is not None and not isinstance(processor, Embedding):
        raise KerasBertError(
            f"expected a sentence encoder for --out, received a model of the task type {processor.name!r}; use --json for its predictions"
        )


def write_vectors(out: Path, model: str, predictions: Sequence[dict[str, Any]]) -> Result:
    """Write float32 vectors atomically: (texts, dimensions), or (pairs, 2, dimensions) for pairs.

    Args:
        out: The file.
        model: The model's name.
        predictions: The model's predictions.
    """
    name = "vector" if "vector" in predictions[0] else "vectors"
    vectors = np.stack([np.asarray(prediction[name], np.float32) for prediction in predictions])
    return _write(out, vectors, {"model": model})


def write_layer_vectors(out: Path, vectors: "np.ndarray | TokenVectors", facts: dict[str, Any]) -> Result:
    """Write the vectors of a layer atomically: `.npy` for one a text, `.npz` for those of tokens.

    Args:
        out: The file.
        vectors: The result of `layer_vectors`.
        facts: The model and the layer, for `--json`.
    """
    if isinstance(vectors, np.ndarray):
        return _write(out, vectors, facts)
    return _write(out, vectors.vectors, facts, vectors.arrays())


def _write(
    out: Path, vectors: np.ndarray, facts: dict[str, Any], arrays: dict[str, np.ndarray] | None = None
) -> Result:
    with atomic_file(out) as partial, partial.open("wb") as file:
        if arrays is None:
            np.save(file, vectors)
        else:
            np.savez(file, allow_pickle=False, **arrays)
    shape = " x ".join(f"{size:,}" for size in vectors.shape)
    names = f"; {', '.join(arrays)}" if arrays else ""
    return Result({**facts, "file": out, "shape": list(vectors.shape)}, f"wrote {out}: float32, {shape}{names}")
