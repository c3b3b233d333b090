"""The vectors of `kerasbert predict --out`: a NumPy file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kerasbert.cli.common.destinations import check_out_file
from kerasbert.cli.common.results import Result
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.processors import Processor
from kerasbert.processors.embedding import Embedding


def check_vectors_file(out: Path, overwrite: bool) -> None:
    """Raises KerasBertError unless vectors can be written at `out`, where nothing may be lost."""
    check_out_file(out, "--out", ending=".npy")
    if out.exists() and not overwrite:
        raise KerasBertError(
            f"expected a new file as --out, received {str(out)!r}, which is there; name another, or add --overwrite"
        )


def check_has_vectors(processor: Processor, out: Path | None) -> None:
    """Raises KerasBertError for a model without vectors that is to write them."""
    if out is not None and not isinstance(processor, Embedding):
        raise KerasBertError(
            f"expected a sentence encoder for --out, received a model of the task {processor.name!r}; --json prints its answers"
        )


def written_vectors(out: Path, model: str, answers: Sequence[dict]) -> Result:
    """Writes float32 vectors (texts, dimensions), of pairs (pairs, 2, dimensions), whole or not at all."""
    name = "vector" if "vector" in answers[0] else "vectors"
    vectors = np.stack([np.asarray(answer[name], np.float32) for answer in answers])
    with atomic_file(out) as partial, partial.open("wb") as file:
        np.save(file, vectors)
    shape = " x ".join(f"{size:,}" for size in vectors.shape)
    return Result({"model": model, "file": out, "shape": list(vectors.shape)}, f"wrote {out}: float32, {shape}")
