"""Neurons cut out of the feed-forward networks (McCarley et al. 2019, "Structured Pruning of a BERT-based Question Answering Model")."""

from collections.abc import Sequence

import numpy as np

from kerasbert.compression.pruning.structured.importance import neuron_importance
from kerasbert.compression.pruning.structured.model_surgery import (
    check_float,
    check_one,
    check_share,
    feed_forwards,
    heads,
    keep_inputs,
    keep_outputs,
    rebuilt,
    values_of,
)
from kerasbert.compression.pruning.structured.model_surgery import widths as widths_of
from kerasbert.compression.pruning.structured.ranking import most_important, numbers_over_all
from kerasbert.encoders.pruned_sizes import Cut
from kerasbert.errors import KerasBertError

# Integer kernels multiply blocks of this many values: a width in between is filled up with zeros, and costs what the next multiple does.
BLOCK = 8


def cut_feed_forward(
    task,
    share: float | None = None,
    widths: int | Sequence[int] | None = None,
    data=None,
    per_layer: bool = True,
    multiple: int = BLOCK,
    batch_size: int = 32,
):
    """The same class of task with narrower feed-forward networks: the least important neurons over `data` are gone.

    share: of the neurons that go. What is left is rounded up to a multiple of `multiple`. per_layer: as many in every network, so that the
    config's `intermediate_size` says it all (if they were alike before); otherwise the neurons of all networks are ranked together and the
    widths differ. widths: how many neurons stay, in place of a share: of every network, or one number for each, block after block.
    data: see `head_importance`.

    Raises KerasBertError for a quantized task, a share outside 0 to 1 or one that cuts nothing, widths that are not below what there is,
    and missing data.
    """
    check_float(task)
    check_one(share=share, widths=widths)
    if type(multiple) is not int or multiple < 1:
        raise KerasBertError(f"expected widths in multiples of 1 or more, received {multiple!r}")
    there = widths_of(task)
    left = _given(widths, there) if share is None else _shares(share, there, multiple, per_layer)
    importance = neuron_importance(task, data, batch_size)
    if not left:
        numbers = numbers_over_all(importance, int(share * sum(there)), min(multiple, *there))
        left = [_rounded(number, width, multiple) for number, width in zip(numbers, there, strict=True)]
        _check_narrower(left, there, f"a share of {share}")
    values = values_of(task)
    for network, kept in zip(feed_forwards(task), most_important(importance, left), strict=True):
        keep_outputs(values, network.intermediate, kept)
        keep_inputs(values, network.output_dense, kept)
    return rebuilt(task, values, *Cut.of(task.config, heads(task), left))


def _shares(share: float, there: list[int], multiple: int, per_layer: bool) -> list[int]:
    """What each network keeps of its neurons; nothing where their importance has to say it."""
    check_share(share, "neurons")
    if not per_layer:
        return []
    left = [_rounded(width - int(share * width), width, multiple) for width in there]
    _check_narrower(left, there, f"a share of {share}")
    return left


def _rounded(number: int, width: int, multiple: int) -> int:
    return min(-(-number // multiple) * multiple, width)


def _check_narrower(left: list[int], there: list[int], received: str) -> None:
    if left == there:
        raise KerasBertError(
            f"expected narrower networks than {there[0]} neurons in the end, received {received}: cut more"
        )


def _given(widths: int | Sequence[int], there: list[int]) -> list[int]:
    given = [widths] * len(there) if isinstance(widths, int | np.integer) else list(widths)
    if len(given) != len(there):
        raise KerasBertError(f"expected one of the widths for each of {len(there)} networks, received {len(given)}")
    for width, most in zip(given, there, strict=True):
        if isinstance(width, bool) or not isinstance(width, int | np.integer) or not 1 <= width <= most:
            raise KerasBertError(
                f"expected widths as whole numbers from 1 to {most}, what there is, received {width!r}"
            )
    _check_narrower(list(map(int, given)), there, f"widths of {widths}")
    return list(map(int, given))
