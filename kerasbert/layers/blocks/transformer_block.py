"""The transformer block and its feed-forward network."""

from collections.abc import Sequence

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.blocks.attention import SelfAttention
from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.edges import Edges, Residual, Tie
from kerasbert.layers.quantization.factory import LayerFactory


class FeedForward(keras.layers.Layer):
    """Two Dense layers with an activation between: (B, S, W) -> (B, S, I) -> (B, S, W).

    Args:
        make: the factory of the layer.
        width: W, by default the hidden size.
        intermediate: I of a pruned layer, by default the config's.
        gated: whether the activations are multiplied by a second projection, the gate.
    """

    def __init__(
        self, make: LayerFactory, width: int | None = None, intermediate: int | None = None, gated: bool = False
    ):
        super().__init__(name=make.name)
        config, inner = make.config, intermediate or make.config.intermediate_size
        self.input_quantizer = make.quantizer("input")
        self.intermediate: Dense = make.dense("intermediate", inner, self.input_quantizer, activation=config.activation)
        self.gate: Dense | None = make.dense("gate", inner, self.input_quantizer) if gated else None
        self.hidden = make.quantizer("hidden")
        self.output_dense: Dense = make.dense("output_dense", width or config.hidden_size, self.hidden)

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = self.input_quantizer(x, training=training)
        y = self.intermediate(x, training=training)  # (B, S, I)
        if self.gate is not None:
            y = y * self.gate(x, training=training)
        return self.output_dense(self.hidden(y, training=training), training=training)  # (B, S, W)

    @property
    def inner_layers(self) -> Sequence[Dense]:
        """The layers of inner width."""
        return [self.intermediate] if self.gate is None else [self.intermediate, self.gate]

    @property
    def ties(self) -> Sequence[Tie]:
        """The range before a ReLU, which starts at 0, and the range after it: training would move them apart."""
        has_relu = self.intermediate.activation is tf.nn.relu and self.gate is None
        return [(self.hidden, self.intermediate)] if has_relu else []


class TransformerBlock(keras.layers.Layer):
    """Transformer block (Vaswani et al. 2017): (B, S, H), bias (B, 1, 1, S) -> (B, S, H), probabilities (B, N, S, S).

    The config's `block_form` fills its slots: the place of the norms, the gate and rotary positions.

    Args:
        make: the factory of the layer, at `layers.` and the number of the block.
        heads: number of heads of a pruned block, by default the config's.
        intermediate: width of the feed-forward network of a pruned block, by default the config's.
    """

    attention_norm: Norm | None

    def __init__(self, make: LayerFactory, heads: int | None = None, intermediate: Sequence[int | None] = (None,)):
        super().__init__(name=make.name)
        self.form = form = make.config.block_form(int(make.path.rpartition(".")[2]))
        self.attention = SelfAttention(make.at("attention"), heads=heads, rotary_base=form.rotary_base)
        self.attention_adapter: keras.layers.Layer | None = None  # set by `insert_adapters`, like the other one
        self.attention_sum = make.quantizer("attention_stream", integer_only=True, residual=True)
        self.attention_norm = make.norm("attention_norm") if form.input_norm else None
        self.feed_forward = FeedForward(make.at("feed_forward"), intermediate=intermediate[0], gated=form.gated)
        self.feed_forward_adapter: keras.layers.Layer | None = None
        self.feed_forward_sum = make.quantizer("feed_forward_stream", integer_only=True, residual=True)
        self.feed_forward_norm: Norm = make.norm("feed_forward_norm")
        self.dropout = Dropout(make.config.hidden_dropout_prob)

    def call(self, x: tf.Tensor, bias: tf.Tensor, training: bool | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        y = self._norm(self.attention_norm, x, True, training)
        attended, probabilities = self.attention(y, bias, training=training)  # (B, S, H), (B, N, S, S)
        attended = self.dropout(attended, training=training)
        if self.attention_adapter is not None:
            attended = self.attention_adapter(attended, training=training)
        x = self.attention_sum(x + attended, training=training)
        x = self._norm(self.attention_norm, x, False, training)  # (B, S, H)
        y = self._norm(self.feed_forward_norm, x, True, training)
        fed = self.dropout(self.feed_forward(y, training=training), training=training)  # (B, S, I) -> (B, S, H)
        if self.feed_forward_adapter is not None:
            fed = self.feed_forward_adapter(fed, training=training)
        x = self.feed_forward_sum(x + fed, training=training)
        return self._norm(self.feed_forward_norm, x, False, training), probabilities

    def _norm(self, norm: Norm | None, x: tf.Tensor, before: bool, training: bool | None) -> tf.Tensor:
        """Apply a norm before or behind a part of the block, whichever is its place."""
        return norm(x, training=training) if norm is not None and before == self.form.pre_norm else x

    @property
    def adapter_slots(self) -> dict[str, keras.layers.Layer]:
        """The layers that hold an adapter each, by the path of the attribute in this block."""
        return {"attention_adapter": self, "feed_forward_adapter": self}

    def input_sum(self) -> ActivationFakeQuant:
        """Return the residual sum that the block's input is added to, and whose scales it carries."""
        return self.attention_sum

    def edges(self, before: Norm | None) -> Edges:
        """Declare the tensors that this block shares with others.

        Args:
            before: the norm that writes the block's input for this block alone, and in its scales; None for another layer.
        """
        attention, fed = self.attention, self.feed_forward
        if self.form.pre_norm:  # refused for integer-only models, so that there are no ranges to tie
            return Edges((), self.feed_forward_sum, fed.ties)
        first = Residual(
            self.attention_sum,
            (before, attention.output_dense),
            (attention.input_quantizer,),
            self.attention_norm,
            before,
        )
        second = Residual(
            self.feed_forward_sum, (self.attention_norm, fed.output_dense), (fed.input_quantizer,),
            self.feed_forward_norm, self.attention_norm,
        )  # fmt: skip
        return Edges(
            inputs=(attention.input_quantizer,),
            output=self.feed_forward_norm,
            ties=((fed.input_quantizer, self.attention_norm), *fed.ties),
            residuals=(first, second) if before is not None else (second,),
        )
