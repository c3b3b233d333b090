"""Pruning of hidden dimensions: one mask over the residual stream, from the embeddings to the head (Xia et al. 2022, section 3.1)."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from kerasbert.compression.pruning.structured.hidden_axes import POOLED, STREAM, check_cuttable, hidden_axes
from kerasbert.compression.pruning.structured.importance import stream_importance
from kerasbert.compression.pruning.structured.model_surgery import (
    check_exactly_one,
    check_float,
    check_fraction,
    check_without_exits,
    resized_task,
    weights_by_path,
)
from kerasbert.compression.pruning.structured.ranking import most_important
from kerasbert.compression.pruning.structured.refitting import refit
from kerasbert.compression.pruning.structured.widths import BLOCK
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig
from kerasbert.tasks.base import Task
from kerasbert.values import is_whole_number


def prune_hidden(
    task: Task,
    share: float | None = None,
    size: int | None = None,
    data: Any = None,
    refits: bool = True,
    multiple: int = BLOCK,
    batch_size: int = 32,
) -> Task:
    """Return a copy of a task with a smaller hidden size.

    The least important dimensions of the residual stream over `data` are removed from every layer that reads or writes it; see
    `hidden_importance`. The numbers of the pooled vector are ranked apart. Attention heads and their size stay, and so do feed-forward
    networks.

    Args:
        task: The task, in float.
        share: Fraction of the dimensions to remove. The remaining size is rounded up to a multiple of `multiple` and of the heads.
        size: The hidden size to keep, in place of `share`; a multiple of the number of heads.
        data: Labelled examples, see `head_importance`.
        refits: Whether norms and Dense layers are fitted to what they read: the Dense layers that read the stream get the part of the
            removed dimensions that is linear in the remaining ones, and norms another scale and shift.
        multiple: Divisor of the remaining size of a `share`.
        batch_size: Examples in a batch.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is quantized or has a head of a user's; when `share` is not between 0 and 1 or removes nothing; when
            `size` is not below the present one or no multiple of the heads; and when data are missing.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import prune_hidden
        smaller = prune_hidden(task, share=0.25, data=(texts, labels))
        smaller.config.hidden_size
        ```
    """
    check_float(task)
    check_exactly_one(share=share, size=size)
    check_cuttable(task)
    check_without_exits(task)
    if type(multiple) is not int or multiple < 1:
        raise KerasBertError(f"expected a hidden size in multiples of 1 or more, received {multiple!r}")
    kept = _check_size(size, task.config) if share is None else _remaining(share, task.config, multiple)
    stream, pooled = stream_importance(task, data, batch_size)
    # Without an effect on the loss, the pooled vector is ranked as what it is computed from.
    ranked = {STREAM: stream, POOLED: stream if pooled is None or not pooled.any() else pooled}
    chosen = {name: most_important([values], [kept])[0] for name, values in ranked.items()}
    smaller = resized_task(task, *_smaller_config(task, kept))
    axes = hidden_axes(task, smaller)
    weights = weights_by_path(task)
    if refits:
        weights |= refit(task, axes, chosen, data, batch_size)
    for path, spaces in axes.items():
        for axis, space in enumerate(spaces):
            if space is not None and weights[path].shape[axis] != kept:
                weights[path] = np.take(weights[path], chosen[space], axis)
    for path, variable in smaller.variables_by_path().items():
        variable.assign(weights[path])
    smaller.recommended = None  # its rates are those of another width
    return smaller


def _smaller_config(task: Task, kept: int) -> tuple[EncoderConfig, PrunedSizes | None]:
    """The config with this hidden size, and the cut; embeddings that are the stream itself follow."""
    sizes = {"hidden_size": kept}
    embeddings = task.encoder.embeddings
    projected = getattr(embeddings, "projection", None) or getattr(embeddings, "transformation", None)
    if hasattr(task.config, "embedding_size") and projected is None:
        sizes["embedding_size"] = kept
    return PrunedSizes.of(replace(task.config, **sizes), sizes_of(task.encoder))


def _divisor(config: EncoderConfig) -> int:
    """The number that divides every hidden size of a config: its heads, where there are no bottlenecks."""
    return 1 if getattr(config, "use_bottleneck", False) else config.num_attention_heads


def _remaining(share: float, config: EncoderConfig, multiple: int) -> int:
    """The hidden size that a share leaves."""
    check_fraction(share, "hidden dimensions")
    present, step = config.hidden_size, math.lcm(multiple, _divisor(config))
    kept = -(-(present - int(share * present)) // step) * step
    if kept >= present:
        raise KerasBertError(
            f"expected a share that cuts {step} of {present} hidden dimensions, received {share}; choose a larger share"
        )
    return kept


def _check_size(size: int | None, config: EncoderConfig) -> int:
    """The hidden size to keep, or an error."""
    present, divisor = config.hidden_size, _divisor(config)
    if not is_whole_number(size, 1, present - 1):
        raise KerasBertError(
            f"expected a hidden size as a whole number from 1 to {present - 1}, below the present one, received {size!r}"
        )
    if size % divisor:
        nearest = max(round(size / divisor), 1) * divisor
        raise KerasBertError(
            f"expected a hidden size that the {divisor} attention heads divide, received {size}; {nearest} is the nearest"
        )
    return int(size)
