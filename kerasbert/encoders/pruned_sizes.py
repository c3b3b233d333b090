"""Sizes of pruned encoders that a config.json has no keys for: heads and feed-forward widths of single blocks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.transformer_block import FeedForward
from kerasbert.layers.traversal import sublayers


@dataclass(frozen=True)
class PrunedSizes:
    """The sizes of pruned blocks. None: as the config says.

    Blocks are counted as the encoder holds them: ALBERT has few, which are called many times.

    Attributes:
        heads: the number of heads of each block; a head keeps its size.
        intermediate: the inner width of each feed-forward network, block after block.
    """

    heads: tuple[int, ...] | None = None
    intermediate: tuple[int, ...] | None = None

    @classmethod
    def from_dict(cls, values: Mapping, config: EncoderConfig) -> Self:
        """Read a JSON object such as `{"heads": [6, 4]}` for an encoder of a config.

        Raises:
            KerasBertError: when a name, the number of blocks or a size does not fit the config.
        """
        if not isinstance(values, Mapping) or not values or not values.keys() <= {"heads", "intermediate"}:
            raise KerasBertError(f"expected a cut with 'heads' or 'intermediate' or both, received {values!r}")
        limits = {
            "heads": (config.blocks, config.num_attention_heads),
            "intermediate": (config.blocks * config.feed_forwards, config.intermediate_size),
        }
        return cls(**{name: _checked_sizes(name, values[name], *limits[name]) for name in values})

    @classmethod
    def of(
        cls, config: EncoderConfig, heads: Sequence[int], intermediate: Sequence[int]
    ) -> tuple[EncoderConfig, Self | None]:
        """Describe an encoder whose blocks have these sizes.

        A common width becomes the config's `intermediate_size`, which other programs understand.

        Args:
            config: the config before pruning.
            heads: the number of heads of each block.
            intermediate: the inner width of each feed-forward network, block after block.

        Returns:
            The config, and the cut, or None where the config has all sizes.
        """
        if len(set(intermediate)) == 1:
            config = replace(config, intermediate_size=int(intermediate[0]))
        same_heads = all(number == config.num_attention_heads for number in heads)
        same_widths = all(width == config.intermediate_size for width in intermediate)
        if same_heads and same_widths:
            return config, None
        return config, cls(None if same_heads else tuple(heads), None if same_widths else tuple(intermediate))

    def to_dict(self) -> dict[str, list[int]]:
        """Return the JSON object that `from_dict` reads."""
        sizes = {"heads": self.heads, "intermediate": self.intermediate}
        return {name: list(values) for name, values in sizes.items() if values is not None}

    def of_blocks(self, config: EncoderConfig) -> list[dict[str, Any]]:
        """Return the arguments `heads` and `intermediate` of each block, without those that are the config's."""
        networks = config.feed_forwards
        sizes: list[dict[str, Any]] = [{} for _ in range(config.blocks)]
        for block, arguments in enumerate(sizes):
            if self.heads is not None:
                arguments["heads"] = self.heads[block]
            if self.intermediate is not None:
                arguments["intermediate"] = self.intermediate[block * networks : (block + 1) * networks]
        return sizes


def sizes_of(encoder: keras.layers.Layer, blocks: Iterable[int]) -> tuple[list[int], list[int]]:
    """Return the number of heads of each of these blocks, and the inner width of each of their feed-forward networks."""
    chosen = [encoder.layers[block] for block in blocks]
    heads = [attention.heads for block in chosen for attention in sublayers(block, SelfAttention)]
    return heads, [network.intermediate.units for block in chosen for network in sublayers(block, FeedForward)]


def _checked_sizes(name: str, sizes: Any, count: int, largest: int) -> tuple[int, ...]:
    whole = isinstance(sizes, list | tuple) and all(type(size) is int and 1 <= size <= largest for size in sizes)
    if not whole or len(sizes) != count:
        raise KerasBertError(
            f"expected {name!r} of a cut as {count} whole numbers from 1 to {largest}, received {sizes!r:.200}"
        )
    return tuple(sizes)
