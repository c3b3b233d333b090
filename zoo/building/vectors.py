"""The teacher's sentence vectors of the training texts, computed once and kept on disk."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.files.atomic import atomic_file

if TYPE_CHECKING:
    from kerasbert.tasks import SentenceEncoder

SHARD = 8192  # texts in a file
_BATCH = 64


def teacher_vectors(
    teacher: "SentenceEncoder",
    texts: Sequence[str],
    folder: Path,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> np.ndarray:
    """Return the teacher's vectors of the texts; those that an earlier run has computed are read.

    A file is named by a digest of the teacher and its texts, so another teacher or other texts use other files.

    Args:
        teacher: The sentence encoder.
        texts: The texts, at least one.
        folder: The folder of the files, float16; created if it does not exist.
        report: Called with the number of texts done, and of all texts.

    Returns:
        `(texts, hidden)`, float32.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model, shards = [teacher.fingerprint(), teacher.sequence_length], []
    for first in range(0, len(texts), SHARD):
        shard = list(texts[first : first + SHARD])
        path = folder / f"{hashlib.sha256(json.dumps([model, shard]).encode()).hexdigest()[:24]}.npy"
        if not path.exists():
            with atomic_file(path) as partial, open(partial, "wb") as file:
                np.save(file, teacher.predict(shard, batch_size=_BATCH).astype(np.float16))
        shards.append(np.load(path))
        report(first + len(shard), len(texts))
    return np.concatenate(shards).astype(np.float32)


def principal_directions(vectors: np.ndarray, size: int) -> np.ndarray:
    """Return the projection that preserves most of the vectors' squared length (Eckart & Young 1936).

    Args:
        vectors: `(texts, hidden)`.
        size: Numbers in a projected vector.

    Returns:
        Orthonormal directions `(hidden, size)`, the most important one first.
    """
    vectors = vectors.astype(np.float64)
    _, directions = np.linalg.eigh(vectors.T @ vectors)  # ascending
    return directions[:, ::-1][:, :size].astype(np.float32)
