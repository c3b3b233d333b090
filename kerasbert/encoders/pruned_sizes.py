"""Sizes that a config.json has no words for: fewer heads of the same size, and feed-forward networks of different widths."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kerasbert.errors import KerasBertError
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.transformer_block import FeedForward
from kerasbert.layers.traversal import sublayers


@dataclass(frozen=True)
class Cut:
    """What was cut out of an encoder's blocks.

    heads: how many each block has left; a head keeps its size. intermediate: how wide each feed-forward network is, block after block.
    None: as the config says. Blocks are counted as the encoder holds them: ALBERT has few, which are called many times.
    """

    heads: tuple[int, ...] | None = None
    intermediate: tuple[int, ...] | None = None

    @classmethod
    def from_dict(cls, values: Mapping | None, config) -> "Cut | None":
        """Of a JSON object such as `{"heads": [6, 4]}`, for an encoder of that config; None for None.

        Raises KerasBertError for other names, another number of blocks, and sizes below 1 or above the config's.
        """
        if values is None:
            return None
        if not isinstance(values, Mapping) or not values or not values.keys() <= {"heads", "intermediate"}:
            raise KerasBertError(f"expected a cut with 'heads' or 'intermediate' or both, received {values!r}")
        limits = {
            "heads": (config.blocks, config.num_attention_heads),
            "intermediate": (config.blocks * config.feed_forwards, config.intermediate_size),
        }
        return cls(**{name: _sizes(name, values[name], *limits[name]) for name in values})

    @classmethod
    def of(cls, config, heads: Sequence[int], intermediate: Sequence[int]):
        """The config and the cut (None: nothing is left to say) of an encoder whose blocks have these sizes.

        What `intermediate_size` can say is said there, so that other programs understand it.
        """
        if len(set(intermediate)) == 1:
            config = replace(config, intermediate_size=int(intermediate[0]))
        said_heads = all(number == config.num_attention_heads for number in heads)
        said_widths = all(width == config.intermediate_size for width in intermediate)
        cut = cls(None if said_heads else tuple(heads), None if said_widths else tuple(intermediate))
        return config, None if said_heads and said_widths else cut

    def to_dict(self) -> dict[str, list[int]]:
        """JSON-able, for `from_dict`."""
        sizes = {"heads": self.heads, "intermediate": self.intermediate}
        return {name: list(values) for name, values in sizes.items() if values is not None}

    def of_block(self, block: int, feed_forwards: int) -> dict:
        """The arguments `heads` and `intermediate` of a block with so many feed-forward networks; of what is not cut there is nothing."""
        found: dict = {}
        if self.heads is not None:
            found["heads"] = self.heads[block]
        if self.intermediate is not None:
            found["intermediate"] = self.intermediate[block * feed_forwards : (block + 1) * feed_forwards]
        return found


def sizes_of(encoder, blocks: Iterable[int]) -> tuple[list[int], list[int]]:
    """The number of heads of each of these blocks, and the width of each of their feed-forward networks."""
    chosen = [encoder.layers[block] for block in blocks]
    heads = [attention.heads for block in chosen for attention in sublayers(block, SelfAttention)]
    return heads, [network.intermediate.units for block in chosen for network in sublayers(block, FeedForward)]


def _sizes(name: str, values, count: int, largest: int) -> tuple[int, ...]:
    """The values as they are. Raises KerasBertError unless they are `count` whole numbers from 1 to `largest`."""
    whole = isinstance(values, list | tuple) and all(type(value) is int and 1 <= value <= largest for value in values)
    if not whole or len(values) != count:
        raise KerasBertError(
            f"expected {name!r} of a cut as {count} whole numbers from 1 to {largest}, received {values!r:.200}"
        )
    return tuple(values)
