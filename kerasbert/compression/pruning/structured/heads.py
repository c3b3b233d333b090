"""Pruning of attention heads (Michel et al. 2019, arXiv 1905.10650)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kerasbert.compression.pruning.structured.importance import head_importance
from kerasbert.compression.pruning.structured.model_surgery import (
    attentions,
    check_exactly_one,
    check_float,
    check_fraction,
    check_indices,
    check_transformer,
    head_counts,
    keep_inputs,
    keep_outputs,
    rebuild_task,
    weights_by_path,
)
from kerasbert.compression.pruning.structured.ranking import global_counts, most_important
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task


def prune_heads(
    task: Task,
    share: float | None = None,
    heads: Mapping[int, Sequence[int]] | None = None,
    data: Any = None,
    per_layer: bool = False,
    batch_size: int = 32,
) -> Task:
    """Return a copy of a task with fewer attention heads (Michel et al. 2019).

    Query, key and value kernels lose the heads' columns, the output kernel their rows. Heads and layers are counted from 0. Layers of an
    ALBERT are its blocks, each counted once.

    Args:
        task: The task, in float.
        share: Fraction of all heads to remove, rounded down: the least important ones over `data`. The last head of a layer stays.
        heads: Heads to remove, by layer, in place of `share`.
        data: Labelled examples, see `head_importance`; needed with `share`.
        per_layer: Whether every layer loses the same fraction. Otherwise the heads of all layers are ranked together.
        batch_size: Examples in a batch.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is quantized; when `share` is not between 0 and 1 or removes no head; when data are missing; when a
            head or a layer does not exist; and when all heads of a layer would be removed.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import prune_heads
        smaller = prune_heads(task, share=0.25, data=(texts, labels))
        smaller.compile(optimizer=kb.adamw(5e-4))
        smaller.fit(texts, labels)
        ```
    """
    check_float(task)
    check_transformer(task)
    check_exactly_one(share=share, heads=heads)
    if share is not None:
        kept_heads = _most_important_heads(task, share, data, per_layer, batch_size)
    else:
        kept_heads = _remaining_heads(heads, head_counts(task))
    weights = weights_by_path(task)
    for attention, indices in zip(attentions(task), kept_heads, strict=True):
        channels = (indices[:, None] * attention.head_size + np.arange(attention.head_size)).ravel()
        for dense in (attention.query, attention.key, attention.value):
            keep_outputs(weights, dense, channels)
        keep_inputs(weights, attention.output_dense, channels)
    sizes = sizes_of(task.encoder)._replace(heads=[len(indices) for indices in kept_heads])
    return rebuild_task(task, weights, *PrunedSizes.of(task.config, sizes))


def _most_important_heads(task: Task, share: float, data: Any, per_layer: bool, batch_size: int) -> list[np.ndarray]:
    """The indices of the heads that stay, for each layer."""
    check_fraction(share, "heads")
    counts = head_counts(task)
    kept_counts = _counts_per_layer(counts, share) if per_layer else None
    removed = int(share * sum(counts))
    if not removed:
        raise KerasBertError(
            f"expected a share that cuts a head, received {share} of {sum(counts)} heads: less than one; choose a larger share"
        )
    importance = head_importance(task, data, batch_size)
    return most_important(importance, kept_counts or global_counts(importance, removed))


def _counts_per_layer(counts: Sequence[int], share: float) -> list[int]:
    """The number of heads that each layer keeps."""
    removed = [int(share * count) for count in counts]
    if 0 in removed:
        raise KerasBertError(
            f"expected a share that cuts a head of every layer, received {share} of {counts[removed.index(0)]} heads: less than one; "
            "choose a larger share"
        )
    return [count - gone for count, gone in zip(counts, removed, strict=True)]


def _remaining_heads(heads: Mapping[int, Sequence[int]] | None, counts: Sequence[int]) -> list[np.ndarray]:
    """The indices of the heads that stay, for each layer."""
    if not isinstance(heads, Mapping) or not heads:
        raise KerasBertError(f"expected heads as numbers by layer, such as {{0: [1, 2]}}, received {heads!r}")
    kept_heads = [np.arange(count) for count in counts]
    for layer in check_indices(list(heads), len(counts), "layers"):
        removed = check_indices(heads[layer], counts[layer], f"heads of layer {layer}")
        kept_heads[layer] = np.setdiff1d(kept_heads[layer], removed)
        if not len(kept_heads[layer]):
            raise KerasBertError(
                f"expected a head of layer {layer} to stay, received all {counts[layer]} of them to cut; leave one out"
            )
    if not any(len(indices) < count for indices, count in zip(kept_heads, counts, strict=True)):
        raise KerasBertError("expected heads to cut, received none; name them as {layer: [head]}")
    return kept_heads
