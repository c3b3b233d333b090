"""Multi-head self-attention."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.capture import capture
from kerasbert.layers.blocks.decomposed_attention import decomposed_attention
from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.options import leading, lowering_options
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.layers.rotary import rotated

# The bias of padding in 8 bits. A larger one would widen the range of the scores; exp(-20) is below one scale of a probability.
INTEGER_MASK = -20.0


class SelfAttention(keras.layers.Layer):
    """Scaled dot-product attention in N heads of size D, with its output projection (Vaswani et al. 2017).

    (B, S, H), bias (B, 1, 1, S) -> context (B, S, W), probabilities (B, N, S, S). The softmax is computed in float32.

    Args:
        make: the factory of the layer.
        width: W, by default the hidden size.
        separate_values: whether values are computed from a tensor of their own (MobileBERT).
        heads: N of a pruned layer, by default the config's.
        rotary_base: the base of rotary position embeddings, or None for none.
    """

    def __init__(
        self, make: LayerFactory, *, width: int | None = None, separate_values: bool = False, heads: int | None = None,
        rotary_base: float | None = None,
    ):  # fmt: skip
        super().__init__(name=make.name)
        self.rotary_base = rotary_base
        config, width = make.config, width or make.config.hidden_size
        self.heads, self.head_size = heads or config.num_attention_heads, width // config.num_attention_heads
        # XNNPACK multiplies two activations in 8 bits where the zero point of the second one is 0.
        inner, symmetric = self.heads * self.head_size, make.integer_only
        self.input_quantizer = make.quantizer("input")
        self.value_quantizer = make.quantizer("value_input") if separate_values else None
        self.query: Dense = make.dense("query", inner, self.input_quantizer)
        self.key: Dense = make.dense("key", inner, self.input_quantizer, symmetric=symmetric)
        self.value: Dense = make.dense(
            "value", inner, self.value_quantizer or self.input_quantizer, symmetric=symmetric
        )
        self.scores = make.quantizer("scores", integer_only=True)
        self.masked_scores = make.quantizer("masked_scores", integer_only=True, must_include=INTEGER_MASK)
        self.probabilities = make.quantizer("probabilities", integer_only=True, fixed_range=SOFTMAX_RANGE)
        self.context = make.quantizer("context")
        self.output_dense: Dense = make.dense("output_dense", width, self.context)
        self.dropout = Dropout(config.attention_probs_dropout_prob)

    @property
    def scale(self) -> float:
        """Factor of the scores, 1 / sqrt(D)."""
        return self.head_size**-0.5

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
        k = self._split(self.key(x, training=training))
        if self.rotary_base is not None:
            q, k = rotated(q, self.rotary_base), rotated(k, self.rotary_base)
        v = self._split(self.value(values, training=training))
        capture("attention", (q, k, v))
        scores = self.scores(tf.matmul(q, k, transpose_b=True), training=training)  # (B, N, S, S)
        scores = self.masked_scores(scores + tf.cast(bias, q.dtype), training=training)
        probabilities = self.probabilities(tf.nn.softmax(tf.cast(scores, tf.float32)), training=training)
        probabilities = tf.cast(probabilities, x.dtype)
        context = self._merge(tf.matmul(self.dropout(probabilities, training=training), v))  # (B, S, N D)
        return self.output_dense(self.context(context, training=training), training=training), probabilities

    def _split(self, x: tf.Tensor) -> tf.Tensor:
        """(B, S, N D) -> (B, N, S, D)."""
        return tf.transpose(tf.reshape(x, (*leading(x), self.heads, self.head_size)), (0, 2, 1, 3))

    def _merge(self, x: tf.Tensor) -> tf.Tensor:
        """(B, N, S, D) -> (B, S, N D)."""
        x = tf.transpose(x, (0, 2, 1, 3))
        return tf.reshape(x, (*leading(x), self.heads * self.head_size))


def attention_bias(attention_mask: tf.Tensor, mask_constant: float, integer_only: bool = False) -> tf.Tensor:
    """Turn a mask (B, S) into a bias of scores (B, 1, 1, S): 0 for 1, `mask_constant` for 0.

    With `integer_only` it is `INTEGER_MASK` for 0, from a lookup without float operators.
    """
    attended = tf.expand_dims(tf.expand_dims(attention_mask, 1), 1)  # while it is small and integer: one partition less
    if integer_only:
        table = tf.constant([INTEGER_MASK, 0.0])
        return tf.quantization.fake_quant_with_min_max_args(tf.gather(table, attended), INTEGER_MASK, 0.0)
    return (1.0 - tf.cast(attended, tf.float32)) * mask_constant
