"""Fewer numbers in sentence vectors: a projection on their principal directions."""

from typing import Any

import numpy as np

from kerasbert.compression.pruning.structured.model_surgery import check_float, weights_by_path
from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task
from kerasbert.tasks.sentence_encoder import SentenceEncoder

_SMALLEST = 1e-10  # share of the largest eigenvalue below which float32 vectors have no further direction
_KERNEL, _BIAS = "projection.kernel", "projection.bias"


def reduce_dimensions(task: Task, dimensions: int, texts: Any, batch_size: int = 32) -> SentenceEncoder:
    """Return a copy of a sentence encoder with shorter vectors.

    A Dense layer without bias projects the pooled vector on the principal directions of the encoder's vectors of some texts. Vectors are
    not centered first, because cosines are angles at the origin. The first numbers of a vector are the most important ones.

    Args:
        task: The sentence encoder, in float.
        dimensions: Numbers in a vector.
        texts: Texts or pairs of texts of the kind that will be encoded, at least as many as dimensions; some thousands are better.
        batch_size: Texts in a batch.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is no sentence encoder or is quantized; when its vectors do not have more numbers than `dimensions`;
            and when the texts have too few different vectors.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import reduce_dimensions
        sentences = kb.SentenceEncoder.from_pretrained("small-en", sequence_length=32)
        smaller = reduce_dimensions(sentences, 8, kb.data.read_text("texts.txt"))
        smaller.predict(["wake me at six"]).shape  # (1, 8)
        ```
    """
    encoder = check_reducible(task, dimensions)
    vectors = _vectors(encoder, texts, batch_size)
    if len(vectors) < dimensions:
        raise _too_few(dimensions, f"{len(vectors)}")
    directions = principal_directions(vectors, dimensions)
    settings, weights = {**encoder.get_config(), "dimensions": dimensions}, weights_by_path(encoder)
    # Two projections in a row are one.
    weights[_KERNEL] = weights[_KERNEL] @ directions if _KERNEL in weights else directions
    if _BIAS in weights:
        weights[_BIAS] = weights[_BIAS] @ directions
    reduced = type(encoder).from_config(settings)
    for path, variable in reduced.variables_by_path().items():
        variable.assign(weights[path])
    return reduced


def check_reducible(task: Task, dimensions: int) -> SentenceEncoder:
    """Return the task after checking that its vectors can have so many numbers.

    Args:
        task: The task.
        dimensions: Numbers in a vector.

    Raises:
        KerasBertError: When the task is no sentence encoder or is quantized, its vectors do not have more numbers, or its projection has an
            activation.
    """
    if not isinstance(task, SentenceEncoder):
        raise KerasBertError(
            f"expected a SentenceEncoder, whose vectors have dimensions, received a {type(task).__name__}; load the model as one"
        )
    check_float(task)
    if type(dimensions) is not int or not 0 < dimensions < task.width:
        raise KerasBertError(
            f"expected from 1 to {task.width - 1} dimensions, received {dimensions!r}; vectors of the model have {task.width}"
        )
    if task.projection_activation != "identity":
        raise KerasBertError(
            f"expected vectors of a projection without activation, received {task.projection_activation}; load another model"
        )
    return task


def principal_directions(vectors: np.ndarray, count: int) -> np.ndarray:
    """Return the directions on which a projection preserves most of the vectors' squared length (Eckart & Young 1936).

    Args:
        vectors: The vectors, `(n, width)`.
        count: Number of directions.

    Returns:
        Orthonormal directions `(width, count)`, the most important one first.

    Raises:
        KerasBertError: When the vectors have fewer directions.
    """
    vectors = vectors.astype(np.float64)
    values, directions = np.linalg.eigh(vectors.T @ vectors)  # ascending
    rank = int((values > _SMALLEST * values[-1]).sum())
    if rank < count:
        raise _too_few(count, f"{len(vectors)} with {rank} different directions")
    directions = directions[:, ::-1][:, :count]
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(count)])  # otherwise up to the eigensolver
    return (directions * signs).astype(np.float32)


def _vectors(encoder: SentenceEncoder, texts: Any, batch_size: int) -> np.ndarray:
    """Return the vectors of all texts, `(n, width)`."""
    features = encoder.features(texts)[1]
    check_known_tokens(encoder, features, "find the main directions of their vectors")
    return np.concatenate([row["embedding"] for row in encoder.raw_results(features, batch_size)])


def _too_few(dimensions: int, received: str) -> KerasBertError:
    return KerasBertError(
        f"expected texts with vectors in at least {dimensions} directions, one for each dimension, received {received}; "
        "pass more texts"
    )
