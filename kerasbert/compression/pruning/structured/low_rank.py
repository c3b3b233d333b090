"""Low-rank factorization: kernels and the token embeddings as products of two narrow factors, by singular value decomposition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.compression.pruning.structured.input_moments import Moments, input_moments
from kerasbert.compression.pruning.structured.model_surgery import check_float, rebuild_task, weights_by_path
from kerasbert.compression.pruning.structured.ranks import Rank, RankPlan, plan_ranks
from kerasbert.console.output import note
from kerasbert.encoders.ranks import WORD_TABLE, factored_layers
from kerasbert.layers.traversal import dense_layers
from kerasbert.processors import Features
from kerasbert.tasks.base import Task, check_task

_RIDGE = 1e-6  # of the mean variance, added to each: some channels of a small sample do not vary
_TABLE, _WORD_FACTOR = "encoder.embeddings.word.table", "encoder.embeddings.word_factor.kernel"


def factorize(
    task: Task,
    rank: Rank | None = None,
    embedding_rank: Rank | None = None,
    parts: Mapping[str, Rank] | None = None,
    data: Any = None,
    batch_size: int = 32,
) -> Task:
    """Return a copy of a task in which matrices are products of two factors, `(in, rank)` and `(rank, out)`.

    Without data the products have the least squared distance from the kernels (Eckart & Young 1936). With data they have the least squared
    distance of the outputs on them (Chen et al. 2021, "DRONE"): directions that a layer reads often are kept first, the mean error goes
    into the bias, and tokens count as often as they occur. A layer whose factors would have no fewer weights stays whole, which a note
    says. Train the copy afterwards, best with its original as teacher.

    Args:
        task: The task, in float.
        rank: The rank of the encoder's Dense layers: a whole number, or a fraction of the full rank, such as 0.25. None: they stay whole.
        embedding_rank: The rank of the token embeddings, in the same form.
        parts: Other ranks by shell wildcards over paths, such as `{"layers.*.attention.*": 0.4, "pooler": 1.0}`. The last pattern that
            matches a layer decides; the token embeddings are `embeddings.word`.
        data: Examples of the task, without labels; some hundreds are enough for Dense layers. None: by weights alone.
        batch_size: Examples in a batch.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is quantized; when a rank is 0 or larger than a matrix; when a part matches no layer; when no layer
            would become smaller; and when a language model's head reads the token embeddings too.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import factorize, low_rank_report
        smaller = factorize(task, rank=0.25, data=texts)
        low_rank_report(task, smaller).kept
        ```
    """
    check_task(task)
    check_float(task)
    plan = plan_ranks(task, rank, embedding_rank, parts)
    _note_whole(plan)
    features = None if data is None else task.features(data)[1]
    weights, ranks = weights_by_path(task), {**task.encoder.ranks, **plan.ranks}
    dense = {path: name for path, name in _layer_names(task).items() if path in plan.ranks}
    moments = input_moments(task, list(dense), features, batch_size) if features is not None and dense else {}
    for path, name in dense.items():
        _factorize_dense(weights, name, plan.ranks[path], moments.get(path))
    if WORD_TABLE in plan.ranks:
        counts = _token_counts(features, len(weights[_TABLE]))
        weights[_TABLE], weights[_WORD_FACTOR] = _factors(weights[_TABLE], plan.ranks[WORD_TABLE], counts[:, None])
    return rebuild_task(task, weights, task.config, task.encoder.cut, ranks=ranks)


def merge_factors(task: Task) -> Task:
    """Return a copy of a factorized task with whole matrices: the products of their factors.

    It computes the same up to rounding, with as many weights as before the factorization, and transformers can load its folder.

    Args:
        task: The task, in float.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is quantized.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import factorize, merge_factors
        merge_factors(factorize(task, rank=4)).save_pretrained("runs/api-merged")
        ```
    """
    check_task(task)
    check_float(task)
    weights, names = weights_by_path(task), _layer_names(task)
    for dense in factored_layers(task.encoder):
        kernel, first = _kernel_names(names[dense.path])
        weights[kernel] = weights.pop(first) @ weights[kernel]
    if _WORD_FACTOR in weights:
        weights[_TABLE] = weights[_TABLE] @ weights.pop(_WORD_FACTOR)
    return rebuild_task(task, weights, task.config, task.encoder.cut, ranks={})


@dataclass(frozen=True)
class LowRankReport:
    """What a factorization changed.

    Attributes:
        ranks: The rank of each factorized layer, by path.
        energies: The share of the squared weights of each of these matrices that the product of its factors keeps, by path.
        kept: The same over all of these matrices together.
        parameters: Number of weights of the task before and after.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import factorize, low_rank_report
        report = low_rank_report(task, factorize(task, rank=4))
        report.parameters, report.kept
        ```
    """

    ranks: dict[str, int]
    energies: dict[str, float]
    kept: float
    parameters: tuple[int, int]


def low_rank_report(task: Task, factorized: Task) -> LowRankReport:
    """Compare a task with its factorized copy.

    Args:
        task: The task before.
        factorized: The copy, which may have been trained since; energies then say how near its products still are.

    Returns:
        The report; `kept` is 1.0 if nothing was factorized.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import factorize, low_rank_report
        low_rank_report(task, factorize(task, embedding_rank=0.5)).energies
        ```
    """
    before, after = weights_by_path(task), weights_by_path(factorized)
    ranks = {path: rank for path, rank in factorized.encoder.ranks.items() if path not in task.encoder.ranks}
    errors, squares, names = {}, {}, _layer_names(task)
    for path in ranks:
        name, first = (_TABLE, _TABLE) if path == WORD_TABLE else _kernel_names(names[path])
        second = _WORD_FACTOR if path == WORD_TABLE else name
        squares[path] = float(np.square(before[name], dtype=np.float64).sum())
        errors[path] = float(np.square(before[name] - after[first] @ after[second], dtype=np.float64).sum())
    return LowRankReport(
        ranks,
        {path: _share_kept(errors[path], squares[path]) for path in ranks},
        _share_kept(sum(errors.values()), sum(squares.values())),
        (sum(value.size for value in before.values()), sum(value.size for value in after.values())),
    )


def _layer_names(task: Task) -> dict[str, str]:
    """Return the path of each Dense layer's attribute by the path that policies match, which may be a shorter one."""
    names = {id(variable): path for path, variable in task.variables_by_path().items()}
    return {
        dense.path: names[id(dense.kernel)].removesuffix(".kernel")
        for dense in dense_layers(task.encoder)
        if id(dense.kernel) in names
    }


def _kernel_names(name: str) -> tuple[str, str]:
    """Return the paths of the kernel of a layer, and of its first factor's."""
    return f"{name}.kernel", f"{name}.factor.kernel"


def _share_kept(error: float, square: float) -> float:
    return 1.0 - error / square if square else 1.0


def _note_whole(plan: RankPlan) -> None:
    if plan.whole:
        note(f"note: left whole, as two factors would have no fewer weights: {', '.join(plan.whole_patterns)}")


def _factorize_dense(weights: dict[str, np.ndarray], path: str, rank: int, moments: Moments | None) -> None:
    """Replace kernel and bias of a Dense layer by those of its factors, in `weights`."""
    (whole, factor), bias, root = _kernel_names(path), f"{path}.bias", None
    kernel = weights[whole]
    if moments is not None:
        root = _root(moments.covariance if bias in weights else moments.second_moment)
    first, second = _factors(kernel, rank, root)
    if moments is not None and bias in weights:
        weights[bias] = weights[bias] + (moments.mean @ (kernel - first @ second)).astype(np.float32)
    weights[factor], weights[whole] = first, second


def _factors(matrix: np.ndarray, rank: int, root: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return factors (rows, rank) and (rank, columns) of a matrix whose product has the least error `root @ (matrix - product)`.

    The product projects the rows on the first directions of the outputs, so that no inverse of the root is needed. Both factors of a
    direction have the same norm.

    Args:
        matrix: The matrix (rows, columns).
        rank: The number of directions.
        root: A matrix (rows, rows), weights of the rows (rows, 1), or None for the error of the weights themselves.
    """
    exact = matrix.astype(np.float64)
    weighted = exact if root is None else root * exact if root.shape[1] == 1 else root @ exact
    if len(weighted) > weighted.shape[1]:  # the same directions from a smaller matrix
        directions = np.linalg.eigh(weighted.T @ weighted)[1][:, ::-1][:, :rank]
    else:
        directions = np.linalg.svd(weighted, full_matrices=False)[2][:rank].T
    first = exact @ directions  # (rows, rank)
    balance = np.sqrt(np.maximum(np.linalg.norm(first, axis=0), 1e-12))
    return (first / balance).astype(np.float32), (directions * balance).T.astype(np.float32)


def _root(moment: np.ndarray) -> np.ndarray:
    """Return R with R^T R = moment + ridge. Sums of float32 products may have eigenvalues a little below 0."""
    values, vectors = np.linalg.eigh(moment)
    values = np.maximum(values, 0)
    return np.sqrt(values + _RIDGE * max(float(values.mean()), 1e-30))[:, None] * vectors.T


def _token_counts(features: Features | None, rows: int) -> np.ndarray:
    """Return a weight for each row of the token table, `(rows,)`: the root of how often a token occurs, and one more."""
    if features is None:
        return np.ones(rows)
    ids = np.concatenate([np.asarray(ids, np.int64) for ids in features.token_lists.input_ids])
    return np.sqrt(np.bincount(ids[ids < rows], minlength=rows) + 1.0)
