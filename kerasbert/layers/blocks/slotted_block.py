"""A transformer block with slots: the place of its norms, a gate in its feed-forward network, and rotary positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.layers.blocks.transformer_block import FeedForward, SelfAttention, TransformerBlock, add_residual
from kerasbert.layers.lowering.options import lowering_options
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
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
        names = ("straight", "turned", "rotated")
        self.integer_only = make.integer_only
        self.query_steps = [make.quantizer(f"query_{name}", integer_only=True) for name in names]
        # XNNPACK multiplies two activations in 8 bits where the zero point of the second one is 0.
        self.key_steps = [make.quantizer(f"key_{name}", integer_only=True, symmetric=True) for name in names]

    def call(
        self, x: tf.Tensor, bias: tf.Tensor, values: tf.Tensor | None = None, training: bool | None = None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        if lowering_options().decomposed_attention:
            raise KerasBertError(
                "expected positions in the embeddings for a target whose attention is decomposed, received rotary positions; "
                "convert for another target"
            )
        return super().call(x, bias, values, training)

    def positioned(self, q: tf.Tensor, k: tf.Tensor, training: bool | None) -> tuple[tf.Tensor, tf.Tensor]:
        return self._rotated(q, self.query_steps, training), self._rotated(k, self.key_steps, training)

    def _rotated(self, x: tf.Tensor, steps: Sequence[ActivationFakeQuant], training: bool | None) -> tf.Tensor:
        """Rotate each pair of channels i and i + D / 2 by position / base^(2 i / D): (B, N, S, D) -> (B, N, S, D)."""
        size: Any = x.shape[-1]
        length = x.shape[2] or tf.shape(x)[2]
        frequencies = tf.constant(self.base ** (-np.arange(0, size, 2) / size), tf.float32)  # (D / 2,)
        angles = tf.cast(tf.range(length), tf.float32)[:, tf.newaxis] * frequencies  # (S, D / 2)
        cosine, sine = tf.cos(angles), tf.sin(angles)
        first, second = tf.split(x, 2, axis=-1)
        straight, turned, rotated = steps
        # The sign of a turn by a quarter is in the constant.
        x = straight(x * tf.cast(self._constant([cosine, cosine]), x.dtype), training=training)
        y = tf.concat([second, first], -1) * tf.cast(self._constant([-sine, sine]), x.dtype)
        return rotated(x + turned(y, training=training), training=training)

    def _constant(self, halves: Sequence[tf.Tensor]) -> tf.Tensor:
        """Return the factors (S, D), in an integer-only model on the grid that the converter makes of their values."""
        factors = tf.concat(halves, -1)
        if not self.integer_only or lowering_options().integer:
            return factors
        low, high = tf.reduce_min(factors), tf.reduce_max(factors)
        return tf.quantization.fake_quant_with_min_max_vars(factors, low, high)


class GatedFeedForward(FeedForward):
    """A feed-forward network whose inner activations are multiplied by a second projection: (B, S, W) -> (B, S, W)."""

    def __init__(self, make: LayerFactory, width: int | None = None, intermediate: int | None = None):
        super().__init__(make, width, intermediate)
        self.gate = make.dense("gate", self.intermediate.units, self.input_quantizer)
        self.gated = make.quantizer("gated", integer_only=True)

    def activated(self, x: tf.Tensor, training: bool | None) -> tf.Tensor:
        y = self.gated(super().activated(x, training), training=training)
        return y * self.gate(x, training=training)

    def ties(self) -> Sequence[Tie]:
        return ()  # a product is between the activation and what reads it


class SlottedBlock(TransformerBlock):
    """A transformer block whose slots `block_form(layer)` of the config fills; see `TransformerBlock` for the arguments."""

    def __init__(
        self, make: LayerFactory, heads: int | None = None, intermediate: Sequence[int | None] = (None,),
        head_size: int | None = None,
    ):  # fmt: skip
        config: Any = make.config
        form: BlockForm = config.block_form(int(make.path.rpartition(".")[2]))
        attention = SelfAttention if form.rotary_base is None else partial(RotaryAttention, base=form.rotary_base)
        feed_forward = GatedFeedForward if form.gated else FeedForward
        super().__init__(make, heads, intermediate, attention, feed_forward, head_size)
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
        if not self.pre_norm:
            return super().edges(before)
        # The sums go on unchanged from block to block: they are not equalized, since no norm would undo it in all of their readers.
        reader, norm = self.attention.input_quantizer, self.attention_norm
        ties = [(self.feed_forward.input_quantizer, self.feed_forward_norm), *self.feed_forward.ties()]
        ties += [] if norm is None else [(reader, norm)]
        return Edges((reader,) if norm is None else (), self.feed_forward_sum, ties)
