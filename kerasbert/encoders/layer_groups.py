"""Layers that share their blocks, as ALBERT's do. Elsewhere each layer is one block."""

from collections.abc import Iterable

from kerasbert.layers.config import EncoderConfig


def layer_group(config: EncoderConfig, layer: int) -> int:
    """Return the group whose blocks compute a layer; the layers are divided evenly among the groups."""
    return layer * getattr(config, "num_hidden_groups", config.num_hidden_layers) // config.num_hidden_layers


def blocks_per_layer(config: EncoderConfig) -> int:
    """Return the number of blocks in a group."""
    return getattr(config, "inner_group_num", 1)


def block_calls(config: EncoderConfig, layers: Iterable[int]) -> list[int]:
    """Return the blocks that these layers call, in the order of the calls."""
    size = blocks_per_layer(config)
    return [layer_group(config, layer) * size + i for layer in layers for i in range(size)]
