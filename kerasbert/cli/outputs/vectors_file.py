"""The sentence vectors of `kerasbert predict --out`: a NumPy file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.cli.outputs.destinations import check_out_file
from kerasbert.cli.outputs.results import Result
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.processors import Processor
from kerasbert.processors.embedding import Embedding


def check_vectors_file(out: Path, overwrite: bool) -> None:
    """Check that vectors can be written to a file.

    Args:
        out: The file.
        overwrite: Whether an existing file may be replaced.

    Raises:
        KerasBertError: When it cannot be written, or exists and may not be replaced.
    """
    check_out_file(out, "--out", ending=".npy")
    if out.exists() and not overwrite:
        raise KerasBertError(
            f"expected a new file as --out, received {str(out)!r}, which exists; name another, or add --overwrite"
        )


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
    with atomic_file(out) as partial, partial.open("wb") as file:
        np.save(file, vectors)
    shape = " x ".join(f"{size:,}" for size in vectors.shape)
    return Result({"model": model, "file": out, "shape": list(vectors.shape)}, f"wrote {out}: float32, {shape}")
