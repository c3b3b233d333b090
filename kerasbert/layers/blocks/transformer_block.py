"""The transformer block: multi-head self-attention and a feed-forward network."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.capture import capture
from kerasbert.layers.blocks.decomposed_attention import decomposed_attention
from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.options import leading, lowering_options
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE, ActivationFakeQuant
from kerasbert.layers.quantization.edges import feed_forward_ties, transformer_edges
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.layers.quantization.padding import INTEGER_MASK


class SelfAttention(keras.layers.Layer):
    """Scaled dot-product attention in N heads of size D, with its output projection (Vaswani et al. 2017).

    (B, S, H), bias (B, 1, 1, S) -> context (B, S, W), probabilities (B, N, S, S). The softmax is computed in float32.

    Args:
        make: the factory of the layer.
        width: W, by default the hidden size.
        separate_values: whether values are computed from a tensor of their own (MobileBERT).
        heads: N of a pruned layer, by default the config's.
        head_size: D where W was cut, by default W divided by the config's heads.
    """

    def __init__(
        self, make: LayerFactory, *, width: int | None = None, separate_values: bool = False, heads: int | None = None,
        head_size: int | None = None,
    ):  # fmt: skip
        super().__init__(name=make.name)
        config, width = make.config, width or make.config.hidden_size
        self.heads = heads or config.num_attention_heads
        self.head_size = head_size or width // config.num_attention_heads
        self.scale = self.head_size**-0.5  # of the scores
        # XNNPACK multiplies two activations in 8 bits where the zero point of the second one is 0.
        inner, symmetric = self.heads * self.head_size, make.integer_only
        self.input_quantizer = make.quantizer("input")
        self.value_quantizer = make.quantizer("value_input") if separate_values else None
        values = self.value_quantizer or self.input_quantizer
        self.query: Dense = make.dense("query", inner, self.input_quantizer)
        self.key: Dense = make.dense("key", inner, self.input_quantizer, symmetric=symmetric)
        self.value: Dense = make.dense("value", inner, values, symmetric=symmetric)
        self.scores = make.quantizer("scores", integer_only=True)
        self.masked_scores = make.quantizer("masked_scores", integer_only=True, must_include=INTEGER_MASK)
        self.probabilities = make.quantizer("probabilities", integer_only=True, fixed_range=SOFTMAX_RANGE)
        self.context = make.quantizer("context")
        self.output_dense: Dense = make.dense("output_dense", width, self.context)
        self.dropout = Dropout(config.attention_probs_dropout_prob)

    def call(
        self, x: tf.Tensor, bias: tf.Tensor, values: tf.Tensor | None = None, training: bool | None = None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        lowering = lowering_options()
        x = self.input_quantizer(x, training=training)
        values = x if self.value_quantizer is None else self.value_quantizer(values, training=training)
        q = self.query(x, training=training)  # (B, S, N D)
        if lowering.decomposed_attention:
            context, probabilities = decomposed_attention(self, q, self.key(x), self.value(values), bias)
            return self.output_dense(self.context(context)), probabilities
        q = self._split(q if lowering.scaled_query else q * self.scale)  # (B, N, S, D)
        q, k = self.positioned(q, self._split(self.key(x, training=training)), training)
        v = self._split(self.value(values, training=training))
        capture("attention", (q, k, v))
        scores = self.scores(tf.matmul(q, k, transpose_b=True), training=training)  # (B, N, S, S)
        scores = self.masked_scores(scores + tf.cast(bias, q.dtype), training=training)
        probabilities = self.probabilities(tf.nn.softmax(tf.cast(scores, tf.float32)), training=training)
        probabilities = tf.cast(probabilities, x.dtype)
        context = tf.matmul(self.dropout(probabilities, training=training), v)  # (B, N, S, D)
        context = tf.reshape(tf.transpose(context, (0, 2, 1, 3)), (*leading(x), self.heads * self.head_size))
        return self.output_dense(self.context(context, training=training), training=training), probabilities

    def positioned(self, q: tf.Tensor, k: tf.Tensor, training: bool | None) -> tuple[tf.Tensor, tf.Tensor]:
        """Give queries and keys (B, N, S, D) their positions; those of BERT are in the embeddings."""
        return q, k

    def _split(self, x: tf.Tensor) -> tf.Tensor:
        """(B, S, N D) -> (B, N, S, D)."""
        return tf.transpose(tf.reshape(x, (*leading(x), self.heads, self.head_size)), (0, 2, 1, 3))


def attention_bias(attention_mask: tf.Tensor) -> tf.Tensor:
    """Turn a mask (B, S) into a bias of scores (B, 1, 1, S): 0 for 1, a large negative number for 0."""
    attended = tf.expand_dims(tf.expand_dims(attention_mask, 1), 1)  # while it is small and integer: one partition less
    return (1.0 - tf.cast(attended, tf.float32)) * lowering_options().mask_constant


class FeedForward(keras.layers.Layer):
    """Two Dense layers with an activation between: (B, S, W) -> (B, S, I) -> (B, S, W).

    Args:
        make: the factory of the layer.
        width: W, by default the hidden size.
        intermediate: I of a pruned layer, by default the config's.
    """

    ties = feed_forward_ties

    def __init__(self, make: LayerFactory, width: int | None = None, intermediate: int | None = None):
        super().__init__(name=make.name)
        config, inner = make.config, intermediate or make.config.intermediate_size
        self.input_quantizer = make.quantizer("input")
        self.intermediate: Dense = make.dense("intermediate", inner, self.input_quantizer, activation=config.activation)
        self.hidden = make.quantizer("hidden")
        self.output_dense: Dense = make.dense("output_dense", width or config.hidden_size, self.hidden)

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        y = self.activated(self.input_quantizer(x, training=training), training)  # (B, S, I)
        return self.output_dense(self.hidden(y, training=training), training=training)  # (B, S, W)

    def activated(self, x: tf.Tensor, training: bool | None) -> tf.Tensor:
        """Compute the inner activations: (B, S, W) -> (B, S, I)."""
        return self.intermediate(x, training=training)


def add_residual(
    x: tf.Tensor, y: tf.Tensor, total: ActivationFakeQuant, dropout: Dropout, adapter: keras.layers.Layer | None,
    training: bool | None,
) -> tf.Tensor:  # fmt: skip
    """Add the result y of a part of a block to its input x, both (B, S, W), behind dropout and the part's adapter."""
    y = dropout(y, training=training)
    y = y if adapter is None else adapter(y, training=training)
    return total(x + y, training=training)


class TransformerBlock(keras.layers.Layer):
    """Transformer block (Vaswani et al. 2017): (B, S, H), bias (B, 1, 1, S) -> (B, S, H), probabilities (B, N, S, S).

    Args:
        make: the factory of the layer.
        heads: number of heads of a pruned block, by default the config's.
        intermediate: width of the feed-forward network of a pruned block, by default the config's.
        attention: the class of the attention layer.
        feed_forward: the class of the feed-forward network.
        head_size: the channels of a head of a pruned block, by default the config's.
    """

    edges = transformer_edges

    def __init__(
        self, make: LayerFactory, heads: int | None = None, intermediate: Sequence[int | None] = (None,),
        attention: Callable[..., SelfAttention] = SelfAttention, feed_forward: type[FeedForward] = FeedForward,
        head_size: int | None = None,
    ):  # fmt: skip
        super().__init__(name=make.name)
        self.attention = attention(make.at("attention"), heads=heads, head_size=head_size)
        self.attention_sum = make.quantizer("attention_stream", integer_only=True, residual=True)
        self.attention_norm: Any = make.norm("attention_norm")
        self.feed_forward = feed_forward(make.at("feed_forward"), intermediate=intermediate[0])
        self.feed_forward_sum = make.quantizer("feed_forward_stream", integer_only=True, residual=True)
        self.feed_forward_norm: Norm = make.norm("feed_forward_norm")
        self.dropout = Dropout(make.config.hidden_dropout_prob)
        self.attention_adapter = self.feed_forward_adapter = None  # set by `insert_adapters`

    def call(self, x: tf.Tensor, bias: tf.Tensor, training: bool | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        y, probabilities = self.attention(x, bias, training=training)  # (B, S, H), (B, N, S, S)
        x = add_residual(x, y, self.attention_sum, self.dropout, self.attention_adapter, training)
        x = self.attention_norm(x, training=training)  # (B, S, H)
        y = self.feed_forward(x, training=training)  # (B, S, I) -> (B, S, H)
        x = add_residual(x, y, self.feed_forward_sum, self.dropout, self.feed_forward_adapter, training)
        return self.feed_forward_norm(x, training=training), probabilities

    def adapter_slots(self) -> dict[str, keras.layers.Layer]:
        """Return the layers that hold an adapter each, by the path of the attribute in this block."""
        return {"attention_adapter": self, "feed_forward_adapter": self}

    def input_sum(self) -> ActivationFakeQuant:
        """Return the residual sum that the block's input is added to, and whose scales it carries."""
        return self.attention_sum
