"""A task rebuilt with some of its layers."""

from dataclasses import replace

from kerasbert.compression.pruning.structured.model_surgery import rebuild_task, weights_by_path
from kerasbert.encoders.layer_groups import blocks_per_layer, layer_group
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.encoders.ranks import ranks_of_blocks
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig
from kerasbert.tasks.base import Task


def with_layers(task: Task, layers: list[int]) -> Task:
    """Return a copy of a task with these layers only.

    Args:
        task: The task.
        layers: Indices in ascending order.

    Raises:
        KerasBertError: When no config describes an ALBERT with these layers.
    """
    config, blocks = config_with(task.config, layers)
    old_weights, weights = weights_by_path(task), {}
    renamed = {f"layers.{block}": f"layers.{position}" for position, block in enumerate(blocks)}
    for path, value in old_weights.items():
        if not path.startswith("encoder.layers."):
            weights[path] = value
            continue
        block_path = ".".join(path.split(".")[1:3])
        if block_path in renamed:
            weights[path.replace(block_path, renamed[block_path], 1)] = value
    if task.encoder.layer_mix is not None:
        inner = blocks_per_layer(config)
        calls = [layer * inner + i for layer in layers for i in range(inner)]
        weights["encoder.layer_mix.scores"] = old_weights["encoder.layer_mix.scores"][
            [0, *(1 + call for call in calls)]
        ]
    ranks = ranks_of_blocks(task.encoder.ranks, blocks)
    return rebuild_task(task, weights, *PrunedSizes.of(config, sizes_of(task.encoder, blocks)), ranks=ranks)


def config_with(config: EncoderConfig, layers: list[int]) -> tuple[EncoderConfig, list[int]]:
    """Return the config of an encoder with these layers, and the indices of the blocks that they call.

    Args:
        config: The encoder's config.
        layers: Indices in ascending order.

    Raises:
        KerasBertError: When no config describes an ALBERT with these layers.
    """
    layer_groups = [layer_group(config, layer) for layer in layers]
    groups = sorted(set(layer_groups))
    counts = {"num_hidden_layers": len(layers), "num_hidden_groups": len(groups)}
    smaller = replace(config, **{name: count for name, count in counts.items() if hasattr(config, name)})
    if [groups[layer_group(smaller, layer)] for layer in range(len(layers))] != layer_groups:
        raise KerasBertError(
            f"expected layers that leave each of ALBERT's {len(groups)} groups the calls that a config gives it, received {layers}; "
            "keep as many layers of each group"
        )
    size = blocks_per_layer(config)
    return smaller, [group * size + i for group in groups for i in range(size)]
