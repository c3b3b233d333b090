"""Multi-head self-attention."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.capture import capture
from kerasbert.layers.dense import Dense, truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.decomposed_attention import decomposed_attention
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions, leading
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE, ActivationFakeQuant, activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part

# Added to the scores of padding in 8 bits, where it shares one range with the scores: exp(-20) of the largest is less than a step of the
# probabilities, and a larger constant would take the range away from the scores.
INTEGER_MASK = -20.0


class SelfAttention(keras.layers.Layer):
    """Scaled dot-product attention in N heads of D = H / N (Vaswani et al. 2017), with its output projection.

    x (B, S, H), bias (B, 1, 1, S) -> context (B, S, W), probabilities (B, N, S, S). Softmax is computed in float32.

    Args:
        width: W, by default the config's hidden size.
        separate_values: whether values are computed from a tensor of their own (MobileBERT).
        heads: the number of the config's heads that are left, each of its size; by default all.
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        *,
        width: int | None = None,
        separate_values: bool = False,
        heads: int | None = None,
    ):
        super().__init__(name=path.replace(".", "_"))
        width = width or config.hidden_size
        self.heads, self.head_size = heads or config.num_attention_heads, width // config.num_attention_heads
        integer, inner = integer_part(policy), self.heads * self.head_size

        def dense(name: str, quantizer: ActivationFakeQuant, units: int = inner, symmetric: bool = False) -> Dense:
            path_of = f"{path}.{name}"
            return make_dense(
                units, quantizer, policy, path_of, initializer=truncated_normal(config), symmetric=symmetric
            )

        self.input_quantizer = activation_quantizer(policy, f"{path}.input")
        self.value_quantizer = activation_quantizer(policy, f"{path}.value_input") if separate_values else None
        # XNNPACK multiplies two activations in 8 bits only where the second one's zero point is 0; the runtime's own operator is many
        # times slower.
        self.query = dense("query", self.input_quantizer)
        self.key = dense("key", self.input_quantizer, symmetric=integer is not None)
        self.value = dense("value", self.value_quantizer or self.input_quantizer, symmetric=integer is not None)
        self.scores = activation_quantizer(integer, f"{path}.scores")
        self.masked_scores = activation_quantizer(integer, f"{path}.masked_scores", must_include=INTEGER_MASK)
        self.probabilities = activation_quantizer(integer, f"{path}.probabilities", fixed_range=SOFTMAX_RANGE)
        self.context = activation_quantizer(policy, f"{path}.context")
        self.output_dense = dense("output_dense", self.context, width)
        self.dropout = Dropout(config.attention_probs_dropout_prob)

    @property
    def scale(self) -> float:
        """The factor of the scores, 1 / sqrt(D)."""
        return self.head_size**-0.5

    def call(self, x, bias, values=None, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        x = self.input_quantizer(x, training=training)
        values = x if self.value_quantizer is None else self.value_quantizer(values, training=training)
        q = self.query(x, training=training)  # (B, S, N D)
        if layout.sums:
            context, probabilities = decomposed_attention(self, q, self.key(x), self.value(values), bias)
            return self.output_dense(self.context(context)), probabilities
        q = self._split(q if layout.scaled_query else q * self.scale)  # (B, N, S, D)
        k = self._split(self.key(x, training=training))
        v = self._split(self.value(values, training=training))
        capture("attention", (q, k, v))
        scores = self.scores(tf.matmul(q, k, transpose_b=True), training=training)  # (B, N, S, S)
        scores = self.masked_scores(scores + tf.cast(bias, q.dtype), training=training)
        probabilities = self.probabilities(tf.nn.softmax(tf.cast(scores, tf.float32)), training=training)
        probabilities = tf.cast(probabilities, x.dtype)
        context = self._merge(tf.matmul(self.dropout(probabilities, training=training), v))  # (B, S, N D)
        return self.output_dense(self.context(context, training=training), training=training), probabilities

    def _split(self, x):
        """(B, S, N D) -> (B, N, S, D)."""
        return tf.transpose(tf.reshape(x, (*leading(x), self.heads, self.head_size)), (0, 2, 1, 3))

    def _merge(self, x):
        """(B, N, S, D) -> (B, S, N D)."""
        x = tf.transpose(x, (0, 2, 1, 3))
        return tf.reshape(x, (*leading(x), self.heads * self.head_size))


def attention_bias(attention_mask, mask_constant: float, integer_only: bool = False):
    """(B, S) of ones and zeros -> (B, 1, 1, S): zero where attended, `mask_constant` where not.

    integer_only: `INTEGER_MASK` where not, looked up in a table of two, which needs no float.
    """
    attended = tf.expand_dims(tf.expand_dims(attention_mask, 1), 1)  # while it is small and integer: one partition less
    if integer_only:
        table = tf.constant([INTEGER_MASK, 0.0])
        return tf.quantization.fake_quant_with_min_max_args(tf.gather(table, attended), INTEGER_MASK, 0.0)
    return (1.0 - tf.cast(attended, tf.float32)) * mask_constant
