"""Attention heads cut out of the kernels (Michel et al. 2019, arXiv 1905.10650)."""

from collections.abc import Mapping, Sequence

import numpy as np

from kerasbert.compression.pruning.structured.importance import head_importance
from kerasbert.compression.pruning.structured.model_surgery import (
    attentions,
    check_float,
    check_numbers,
    check_one,
    check_share,
    keep_inputs,
    keep_outputs,
    rebuilt,
    values_of,
    widths,
)
from kerasbert.compression.pruning.structured.model_surgery import heads as heads_of
from kerasbert.compression.pruning.structured.ranking import most_important, numbers_over_all
from kerasbert.encoders.pruned_sizes import Cut
from kerasbert.errors import KerasBertError


def cut_heads(
    task,
    share: float | None = None,
    heads: Mapping[int, Sequence[int]] | None = None,
    data=None,
    per_layer: bool = False,
    batch_size: int = 32,
):
    """The same class of task with fewer attention heads: query, key and value kernels lose their columns, the output's kernel its rows.

    share: of all heads that go, rounded down, the least important ones over `data` (see `head_importance`); the last head of a layer
    always stays. per_layer: as many in every layer, the least important ones of each; otherwise all heads are ranked together.
    heads: those that go, by layer, in place of a share. Both are counted from 0; of an ALBERT, layers are blocks, each counted once.

    Raises KerasBertError for a quantized task, a share outside 0 to 1 or one that cuts nothing, missing data, and heads or layers that do
    not exist, or all heads of a layer.
    """
    check_float(task)
    check_one(share=share, heads=heads)
    if heads is not None:
        kept = _without(heads, heads_of(task))
    else:
        check_share(share, "heads")
        numbers = _numbers(heads_of(task), share) if per_layer else None
        total = int(share * sum(heads_of(task)))
        if not total:
            raise KerasBertError(
                f"expected a share that cuts a head, received {share} of {sum(heads_of(task))} heads: less than one"
            )
        importance = head_importance(task, data, batch_size)
        kept = most_important(importance, numbers or numbers_over_all(importance, total))
    values = values_of(task)
    for attention, left in zip(attentions(task), kept, strict=True):
        channels = (left[:, None] * attention.head_size + np.arange(attention.head_size)).ravel()
        for dense in (attention.query, attention.key, attention.value):
            keep_outputs(values, dense, channels)
        keep_inputs(values, attention.output_dense, channels)
    return rebuilt(task, values, *Cut.of(task.config, [len(left) for left in kept], widths(task)))


def _numbers(there: list[int], share: float) -> list[int]:
    """How many heads each layer keeps."""
    cut = [int(share * count) for count in there]
    if 0 in cut:
        raise KerasBertError(
            f"expected a share that cuts a head of every layer, received {share} of {there[cut.index(0)]} heads: less than one"
        )
    return [count - gone for count, gone in zip(there, cut, strict=True)]


def _without(heads: Mapping[int, Sequence[int]], there: list[int]) -> list[np.ndarray]:
    """The numbers of the heads that stay, of each layer."""
    if not isinstance(heads, Mapping) or not heads:
        raise KerasBertError(f"expected heads as numbers by layer, such as {{0: [1, 2]}}, received {heads!r}")
    kept = [np.arange(count) for count in there]
    for layer in check_numbers(list(heads), len(there), "layers"):
        gone = check_numbers(heads[layer], there[layer], f"heads of layer {layer}")
        kept[layer] = np.setdiff1d(kept[layer], gone)
        if not len(kept[layer]):
            raise KerasBertError(
                f"expected a head of layer {layer} to stay, received all {there[layer]} of them to cut"
            )
    if not any(len(left) < count for left, count in zip(kept, there, strict=True)):
        raise KerasBertError("expected heads to cut, received none")
    return kept
