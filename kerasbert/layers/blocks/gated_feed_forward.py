"""A feed-forward network with a gate."""

from collections.abc import Sequence

import tensorflow as tf

from kerasbert.layers.blocks.transformer_block import FeedForward
from kerasbert.layers.dense import Dense
from kerasbert.layers.quantization.edges import Tie
from kerasbert.layers.quantization.factory import LayerFactory


class GatedFeedForward(FeedForward):
    """A feed-forward network whose inner activations are multiplied by a second projection (Shazeer 2020): (B, S, W) -> (B, S, W).

    See `FeedForward` for the arguments.
    """

    def __init__(self, make: LayerFactory, width: int | None = None, intermediate: int | None = None):
        super().__init__(make, width, intermediate)
        self.gate: Dense = make.dense("gate", self.intermediate.units, self.input_quantizer)
        self.gated = make.quantizer("gated", integer_only=True)

    def activated(self, x: tf.Tensor, training: bool | None) -> tf.Tensor:
        y = self.gated(super().activated(x, training), training=training)
        return y * self.gate(x, training=training)

    def ties(self) -> Sequence[Tie]:
        return ()  # a product is between the activation and what reads it
