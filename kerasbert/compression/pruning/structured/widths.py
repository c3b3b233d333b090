"""Pruning of feed-forward neurons (McCarley et al. 2019, "Structured Pruning of a BERT-based Question Answering Model")."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerasbert.compression.pruning.structured.importance import neuron_importance
from kerasbert.compression.pruning.structured.model_surgery import (
    check_exactly_one,
    check_float,
    check_fraction,
    check_transformer,
    feed_forward_widths,
    feed_forwards,
    keep_inputs,
    keep_outputs,
    rebuild_task,
    weights_by_path,
)
from kerasbert.compression.pruning.structured.ranking import global_counts, most_important
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.layers.traversal import dense_layers
from kerasbert.tasks.base import Task
from kerasbert.values import is_whole_number

# Integer kernels multiply blocks of this many values, and pad other widths with zeros.
BLOCK = 8


def prune_feed_forward(
    task: Task,
    share: float | None = None,
    widths: int | Sequence[int] | None = None,
    data: Any = None,
    per_layer: bool = True,
    multiple: int = BLOCK,
    batch_size: int = 32,
) -> Task:
    """Return a copy of a task with narrower feed-forward networks (McCarley et al. 2019).

    The least important neurons over `data` are removed; see `neuron_importance`.

    Args:
        task: The task, in float.
        share: Fraction of the neurons to remove. The remaining widths are rounded up to a multiple of `multiple`.
        widths: Neurons to keep, in place of `share`: of every network, or one number for each, block after block.
        data: Labelled examples, see `head_importance`.
        per_layer: Whether all networks lose the same fraction, so that `intermediate_size` of the config describes them if they were alike.
            Otherwise the neurons of all networks are ranked together, and the widths differ.
        multiple: Divisor of the remaining widths.
        batch_size: Examples in a batch.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is quantized; when `share` is not between 0 and 1 or removes nothing; when `widths` are not below the
            present ones; and when data are missing.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import prune_feed_forward
        smaller = prune_feed_forward(task, share=0.5, data=(texts, labels))
        smaller.config.intermediate_size
        ```
    """
    check_float(task)
    check_transformer(task)
    check_exactly_one(share=share, widths=widths)
    if type(multiple) is not int or multiple < 1:
        raise KerasBertError(f"expected widths in multiples of 1 or more, received {multiple!r}")
    present = feed_forward_widths(task)
    kept_widths: list[int] = []
    if widths is not None:
        kept_widths = _check_widths(widths, present)
    elif share is not None:
        check_fraction(share, "neurons")
        kept_widths = _equal_shares(share, present, multiple) if per_layer else []
    importance = neuron_importance(task, data, batch_size)
    if share is not None and not per_layer:
        kept_widths = _ranked_together(share, importance, present, multiple)
    weights = weights_by_path(task)
    for network, neurons in zip(feed_forwards(task), most_important(importance, kept_widths), strict=True):
        inner = dense_layers(network)
        others = {id(dense.factor) for dense in inner} | {id(network.output_dense)}
        for layer in (dense for dense in inner if id(dense) not in others):
            keep_outputs(weights, layer, neurons)
        keep_inputs(weights, network.output_dense, neurons)
    sizes = sizes_of(task.encoder)._replace(intermediate=kept_widths)
    return rebuild_task(task, weights, *PrunedSizes.of(task.config, sizes))


def _equal_shares(share: float, present: Sequence[int], multiple: int) -> list[int]:
    kept_widths = [_round_up(width - int(share * width), width, multiple) for width in present]
    _check_narrower(kept_widths, present, f"a share of {share}")
    return kept_widths


def _ranked_together(
    share: float, importance: Sequence[np.ndarray], present: Sequence[int], multiple: int
) -> list[int]:
    counts = global_counts(importance, int(share * sum(present)), min(multiple, *present))
    kept_widths = [_round_up(count, width, multiple) for count, width in zip(counts, present, strict=True)]
    _check_narrower(kept_widths, present, f"a share of {share}")
    return kept_widths


def _round_up(count: int, width: int, multiple: int) -> int:
    return min(-(-count // multiple) * multiple, width)


def _check_narrower(kept_widths: Sequence[int], present: Sequence[int], received: str) -> None:
    if list(kept_widths) == list(present):
        raise KerasBertError(
            f"expected narrower networks than {present[0]} neurons in the end, received {received}; cut more"
        )


def _check_widths(widths: int | Sequence[int], present: Sequence[int]) -> list[int]:
    """One width for each network, or an error."""
    kept_widths = [widths] * len(present) if isinstance(widths, int | np.integer) else list(widths)
    if len(kept_widths) != len(present):
        raise KerasBertError(
            f"expected one of the widths for each of {len(present)} networks, received {len(kept_widths)}"
        )
    for width, largest in zip(kept_widths, present, strict=True):
        if not is_whole_number(width, 1, largest):
            raise KerasBertError(
                f"expected widths as whole numbers from 1 to {largest}, the present width, received {width!r}"
            )
    kept_widths = [int(width) for width in kept_widths]
    _check_narrower(kept_widths, present, f"widths of {widths}")
    return kept_widths
