"""Sizes of pruned encoders that a config.json has no keys for: heads, their size, and feed-forward widths of single blocks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import tf_keras as keras

from kerasbert.files.record import Record, setting
from kerasbert.layers.blocks.transformer_block import FeedForward, SelfAttention
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.traversal import sublayers


class BlockSizes(NamedTuple):
    """The sizes of the blocks of an encoder.

    Attributes:
        heads: the number of heads of each block.
        intermediate: the inner width of each feed-forward network, block after block.
        head_size: the channels of a head; None without attention.
    """

    heads: Sequence[int]
    intermediate: Sequence[int]
    head_size: int | None


@dataclass(frozen=True)
class PrunedSizes(Record):
    """The sizes of pruned blocks. None: as the config says.

    Blocks are counted as the encoder holds them: ALBERT has few, which are called many times.

    Attributes:
        heads: the number of heads of each block; a head keeps its size.
        intermediate: the inner width of each feed-forward network, block after block.
        head_size: the channels of a head where the hidden size was cut; by default the config's width divided by its heads.
    """

    heads: tuple[int, ...] | None = setting(None, at_least=1, omitted_if_none=True)
    intermediate: tuple[int, ...] | None = setting(None, at_least=1, omitted_if_none=True)
    head_size: int | None = setting(None, at_least=1, omitted_if_none=True)

    @classmethod
    def read(cls, values: Mapping, config: EncoderConfig) -> Self:
        """Read a JSON object such as `{"heads": [6, 4]}` for an encoder of a config.

        Raises:
            KerasBertError: when a name, the number of blocks or a size does not fit the config.
        """
        sizes = cls.from_dict(values, "the cut of the encoder")
        limits = {
            "heads": (config.blocks, config.num_attention_heads),
            "intermediate": (config.blocks * _networks(config), config.intermediate_size),
        }
        for name, (count, largest) in limits.items():
            given = getattr(sizes, name)
            fits = given is None or (len(given) == count and max(given) <= largest)
            sizes.expect(fits, name, f"of the cut as {count} whole numbers from 1 to {largest}")
        sizes.expect(bool(values), "heads", "or intermediate or head_size in the cut")
        return sizes

    @classmethod
    def of(cls, config: EncoderConfig, sizes: BlockSizes) -> tuple[EncoderConfig, Self | None]:
        """Describe an encoder whose blocks have these sizes.

        A common width becomes the config's `intermediate_size`, which other programs understand.

        Args:
            config: the config before pruning.
            sizes: the sizes of its blocks.

        Returns:
            The config, and the cut, or None where the config has all sizes.
        """
        if len(set(sizes.intermediate)) == 1:
            config = replace(config, intermediate_size=int(sizes.intermediate[0]))
        same_heads = all(number == config.num_attention_heads for number in sizes.heads)
        same_widths = all(width == config.intermediate_size for width in sizes.intermediate)
        cut = cls(
            None if same_heads else tuple(sizes.heads),
            None if same_widths else tuple(sizes.intermediate),
            None if sizes.head_size in (None, config.head_width // config.num_attention_heads) else sizes.head_size,
        )
        return config, cut if cut.to_dict() else None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that `read` reads."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in super().to_dict().items()}

    def of_blocks(self, config: EncoderConfig) -> list[dict[str, Any]]:
        """Return the arguments `heads`, `intermediate` and `head_size` of each block, without those that are the config's."""
        networks = _networks(config)
        sizes: list[dict[str, Any]] = [{} for _ in range(config.blocks)]
        for block, arguments in enumerate(sizes):
            if self.heads is not None:
                arguments["heads"] = self.heads[block]
            if self.intermediate is not None:
                arguments["intermediate"] = self.intermediate[block * networks : (block + 1) * networks]
            if self.head_size is not None:
                arguments["head_size"] = self.head_size
        return sizes


def _networks(config: EncoderConfig) -> int:
    """Return the number of feed-forward networks in a block."""
    return getattr(config, "num_feedforward_networks", 1)


def sizes_of(encoder: keras.layers.Layer, blocks: Iterable[int] | None = None) -> BlockSizes:
    """Return the sizes of these blocks of an encoder; by default of all."""
    chosen = encoder.layers if blocks is None else [encoder.layers[block] for block in blocks]
    attentions = [attention for block in chosen for attention in sublayers(block, SelfAttention)]
    widths = [network.intermediate.units for block in chosen for network in sublayers(block, FeedForward)]
    return BlockSizes(
        [attention.heads for attention in attentions], widths, attentions[0].head_size if attentions else None
    )
