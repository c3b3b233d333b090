"""Sharing of the weights of a trained model's layers, as an ALBERT shares them (Lan et al. 2019, section 3.1)."""

from collections.abc import Sequence
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np

from kerasbert.compression.pruning.structured.albert_form import Weights, albert_form, check_albert_form
from kerasbert.compression.pruning.structured.layer_search import EXHAUSTIVE, LayerTrial, trial_features
from kerasbert.compression.pruning.structured.model_surgery import check_float, check_without_exits
from kerasbert.encoders.layer_groups import block_calls, blocks_per_layer
from kerasbert.encoders.pruned_sizes import BlockSizes, PrunedSizes, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig
from kerasbert.tasks.base import Task
from kerasbert.values import is_whole_number

SHARED_WEIGHTS = ("mean", "first", "middle", "last", "search")
_ROWS = 256  # of the data that are run
DEFAULT_WEIGHTS = "mean"  # without data
_PLACES = {
    "first": lambda layers: layers[:1],
    "middle": lambda layers: [layers[len(layers) // 2]],
    "last": lambda layers: layers[-1:],
}
_BLOCKS = "encoder.layers."


def share_layers(
    task: Task, groups: int = 1, weights: str | None = None, data: Any = None, batch_size: int = 32
) -> Task:
    """Return a copy of a task whose layers share their weights in groups of consecutive ones, as an ALBERT's do.

    The layers are divided evenly among the groups. Each group has one set of weights and runs it as often as it has layers, so the copy
    is smaller and as fast. It is an ALBERT, which transformers can load; a projection of embeddings that an ALBERT needs is the identity.

    Args:
        task: The task, in float.
        groups: Number of groups, below the number of layers, or of an ALBERT's groups.
        weights: The weights of a group: the `mean` of its layers; those of its `first`, `middle` or `last` layer; or `search`, those of the
            layers whose repeated calls give the outputs that are closest to the task's. None: `search` with data, else `mean`.
        data: Texts, or anything that `predict` takes; needed for `search`.
        batch_size: Rows in a batch.

    Returns:
        The copy, with an `AlbertEncoder`.

    Raises:
        KerasBertError: When the task is quantized; when an ALBERT cannot have its layers; when there are too many groups; and when layers
            of a group have other heads or widths; and when data are missing.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import share_layers
        shared = share_layers(task, groups=2)
        len(shared.encoder.layers)  # 2
        ```
    """
    check_float(task)
    check_albert_form(task)
    check_without_exits(task)
    check_groups(task, groups)
    if weights is None:
        weights = DEFAULT_WEIGHTS if data is None or task.encoder.layer_mix is not None else "search"
    if weights not in SHARED_WEIGHTS:
        raise KerasBertError(f"expected weights of {', '.join(SHARED_WEIGHTS)} of a group, received {weights!r}")
    config, values, pools = albert_form(task, groups)
    members = [list(each) for each in _members(config.num_hidden_layers, groups)]
    sizes = _common_sizes(task, members)
    if weights == "search":
        chosen = [[layer] for layer in _searched(task, members, data, batch_size)]
    else:
        chosen = [_PLACES[weights](layers) if weights in _PLACES else layers for layers in members]
    shared = {path: value for path, value in values.items() if not path.startswith(_BLOCKS)}
    inner = blocks_per_layer(task.config)
    for group, layers in enumerate(chosen):
        sources = [block_calls(task.config, [layer]) for layer in layers]
        for i in range(inner):
            shared |= _merged(values, group * inner + i, [blocks[i] for blocks in sources])
    return _albert_task(task, shared, *PrunedSizes.of(config, sizes), pools)


def check_groups(task: Task, groups: int) -> None:
    """Check that layers of a task can be shared in so many groups.

    Args:
        task: The task.
        groups: Number of groups.

    Raises:
        KerasBertError: When they cannot.
    """
    present = len(task.encoder.layers) // blocks_per_layer(task.config)
    if not is_whole_number(groups, 1, present - 1):
        have = "layers of its own" if present == task.config.num_hidden_layers else "groups of layers"
        largest = f"from 1 to {present - 1}" if present > 1 else "below 1"
        raise KerasBertError(
            f"expected groups of layers as a whole number {largest}, received {groups!r}; the model has {present} {have}"
        )


def _members(layers: int, groups: int) -> list[range]:
    """The layers of each group, as `layer_group` divides them."""
    ends = [-(-group * layers // groups) for group in range(groups + 1)]
    return [range(start, end) for start, end in pairwise(ends)]


def _common_sizes(task: Task, members: Sequence[Sequence[int]]) -> BlockSizes:
    """The sizes of the shared blocks."""
    heads: list[int] = []
    widths: list[int] = []
    for layers in members:
        sizes = [sizes_of(task.encoder, block_calls(task.config, [layer])) for layer in layers]
        if any(each != sizes[0] for each in sizes):
            raise KerasBertError(
                f"expected layers of equal sizes in a group, received layers {layers[0]} to {layers[-1]} with different heads or widths; "
                "share layers before you prune heads or neurons"
            )
        heads += sizes[0].heads
        widths += sizes[0].intermediate
    return BlockSizes(heads, widths, sizes_of(task.encoder).head_size)


def _searched(task: Task, members: Sequence[Sequence[int]], data: Any, batch_size: int) -> list[int]:
    """The layer of each group whose repeated calls give the outputs closest to the task's.

    All choices are tried where there are at most `EXHAUSTIVE`. Otherwise one group after the other is chosen, the others being whole.
    """
    trial = LayerTrial(task, trial_features(task, data, _ROWS), batch_size)
    choice: list[int | None] = [None] * len(members)
    if prod(map(len, members)) <= EXHAUSTIVE:
        choice = _closest(trial, members, [list(each) for each in product(*members)])
    for group in reversed(range(len(members))):
        if choice[group] is None:
            trials = [[*choice[:group], layer, *choice[group + 1 :]] for layer in members[group]]
            choice = _closest(trial, members, trials)
    return [layer for layer in choice if layer is not None]


def _closest(
    trial: LayerTrial, members: Sequence[Sequence[int]], choices: Sequence[list[int | None]]
) -> list[int | None]:
    """The choice of one layer of each group, or None for all of them, that gives the closest outputs."""
    calls = {
        tuple(
            own if layer is None else layer for layers, layer in zip(members, choice, strict=True) for own in layers
        ): choice
        for choice in choices
    }
    measured = trial.run(calls)
    return calls[min(measured, key=lambda layers: (-measured[layers].value, measured[layers].error, layers))]


def _merged(values: Weights, block: int, sources: Sequence[int]) -> Weights:
    """The weights of a shared block, the mean of those of some blocks, by path."""
    start = f"{_BLOCKS}{sources[0]}."
    names = [path.removeprefix(start) for path in values if path.startswith(start)]
    return {
        f"{_BLOCKS}{block}.{name}": np.mean([values[f"{_BLOCKS}{source}.{name}"] for source in sources], axis=0)
        for name in names
    }


def _albert_task(task: Task, weights: Weights, config: EncoderConfig, cut: PrunedSizes | None, pools: bool) -> Task:
    """A task of the same class on an ALBERT."""
    settings = task.get_config()
    encoder = {**settings["encoder"]["config"], "config": config.to_dict(), "pooler": pools}
    encoder["cut"] = None if cut is None else cut.to_dict()
    settings["encoder"] = {"model_type": config.model_type, "config": encoder}
    albert = type(task).from_config(settings)
    for path, variable in albert.variables_by_path().items():
        variable.assign(weights[path])
    albert.inherit_training(task)
    return albert
