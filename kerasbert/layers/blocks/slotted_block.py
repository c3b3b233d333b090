"""A transformer block with slots: the place of its norms, a gate in its feed-forward network, and rotary positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.layers.blocks.transformer_block import FeedForward, SelfAttention, TransformerBlock, add_residual
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.edges import Edges, Tie
from kerasbert.layers.quantization.factory import LayerFactory


@dataclass(frozen=True)
class BlockForm:
    """The slots of a block. The defaults are those of BERT.

    Attributes:
        input_norm: Whether a pre-norm block has a norm before attention; an encoder whose embeddings are normalized may not need the first.
        gated: Whether the inner activations of the feed-forward network are multiplied by a second projection (Shazeer 2020).
        rotary_base: The base of rotary position embeddings, such as 10,000, or None. The config's `has_position_table` is False then.
    """

    input_norm: bool = True
    gated: bool = False
    rotary_base: float | None = None


class RotaryAttention(SelfAttention):
    """Attention whose queries and keys are rotated by their positions (Su et al. 2021): their products depend on distances alone."""

    def __init__(self, make: LayerFactory, *, base: float, **options: Any):
        super().__init__(make, **options)
        self.base = base

    def positioned(self, x: tf.Tensor) -> tf.Tensor:
        """Rotate each pair of channels i and i + D / 2 by position / base^(2 i / D): (B, N, S, D) -> (B, N, S, D)."""
        size: Any = x.shape[-1]
        length = x.shape[2] or tf.shape(x)[2]
        frequencies = tf.constant(self.base ** (-np.arange(0, size, 2) / size), tf.float32)  # (D / 2,)
        angles = tf.cast(tf.range(length), tf.float32)[:, tf.newaxis] * tf.concat(
            [frequencies, frequencies], 0
        )  # (S, D)
        first, second = tf.split(x, 2, axis=-1)
        turned = tf.concat([-second, first], -1)  # by a quarter
        return x * tf.cast(tf.cos(angles), x.dtype) + turned * tf.cast(tf.sin(angles), x.dtype)


class GatedFeedForward(FeedForward):
    """A feed-forward network whose inner activations are multiplied by a second projection: (B, S, W) -> (B, S, W)."""

    def __init__(self, make: LayerFactory, width: int | None = None, intermediate: int | None = None):
        super().__init__(make, width, intermediate)
        self.gate = make.dense("gate", self.intermediate.units, self.input_quantizer)

    def activated(self, x: tf.Tensor, training: bool | None) -> tf.Tensor:
        return super().activated(x, training) * self.gate(x, training=training)

    def ties(self) -> Sequence[Tie]:
        return ()  # a product is between the activation and what reads it


class SlottedBlock(TransformerBlock):
    """A transformer block whose slots `block_form(layer)` of the config fills; see `TransformerBlock` for the arguments.

    Raises:
        KerasBertError: When the policy is integer-only.
    """

    def __init__(self, make: LayerFactory, heads: int | None = None, intermediate: Sequence[int | None] = (None,)):
        config: Any = make.config
        form: BlockForm = config.block_form(int(make.path.rpartition(".")[2]))
        if make.integer_only:
            raise KerasBertError(
                f"expected blocks of BERT's form for an integer-only policy, received {form} of {config.model_type}; quantize without "
                "integer_only"
            )
        attention = SelfAttention if form.rotary_base is None else partial(RotaryAttention, base=form.rotary_base)
        super().__init__(make, heads, intermediate, attention, GatedFeedForward if form.gated else FeedForward)
        self.pre_norm = config.pre_norm
        if not form.input_norm:
            self.attention_norm = None

    def call(self, x: tf.Tensor, bias: tf.Tensor, training: bool | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        if not self.pre_norm:
            return super().call(x, bias, training)
        norm = self.attention_norm
        y, probabilities = self.attention(x if norm is None else norm(x, training=training), bias, training=training)
        x = add_residual(x, y, self.attention_sum, self.dropout, self.attention_adapter, training)
        y = self.feed_forward(self.feed_forward_norm(x, training=training), training=training)
        x = add_residual(x, y, self.feed_forward_sum, self.dropout, self.feed_forward_adapter, training)
        return x, probabilities

    def edges(self, before: Norm | None) -> Edges:
        # The sums of a pre-norm block go on unchanged from block to block, and no range of a float norm is tied.
        return Edges((), self.feed_forward_sum, self.feed_forward.ties()) if self.pre_norm else super().edges(before)
