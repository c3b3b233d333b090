"""Multi-head self-attention."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.capture import tap
from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.initializers import normal
from kerasbert.layers.lowering.decomposed_attention import (
    context_by_sums,
    in_eight_bits,
    logistic_softmax,
    scores_by_sums,
    unheld,
)
from kerasbert.layers.lowering.options import TRAINING_LAYOUT, GraphLayout, leading
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.quantization.quantizers import UNIT_BOUNDS, ActivationPoint

# Added to the scores of padding in 8 bits, where it shares one range with the scores: exp(-20) of the largest is less than a step of the
# probabilities, and a larger constant would take the range away from the scores.
INTEGER_MASK = -20.0


class SelfAttention(keras.layers.Layer):
    """Scaled dot-product attention in N heads of D = H / N (Vaswani et al. 2017), with its output projection.

    x (B, S, H), bias (B, 1, 1, S) -> context (B, S, W), probabilities (B, N, S, S). Softmax is computed in float32.
    width: W, by default the config's hidden size. separate_values: values are computed from a tensor of their own (MobileBERT).
    heads: how many of the config's heads there are, each of the size it has among all of them; by default all.
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

        integer = integer_part(policy)

        def dense(name: str, reads: ActivationPoint, units: int = self.heads * self.head_size) -> Dense:
            # XNNPACK multiplies two activations in 8 bits only where the second one's zero point is 0; the runtime's own operator is many
            # times slower.
            second = name in ("key", "value") and integer is not None
            return Dense(units, reads, policy, f"{path}.{name}", initializer=normal(config), symmetric=second)

        self.reads = ActivationPoint(policy, f"{path}.input")
        self.value_reads = ActivationPoint(policy, f"{path}.value_input") if separate_values else None
        self.query, self.key = dense("query", self.reads), dense("key", self.reads)
        self.value = dense("value", self.value_reads or self.reads)
        self.scores = ActivationPoint(integer, f"{path}.scores")
        self.masked_scores = ActivationPoint(integer, f"{path}.masked_scores", reaches=INTEGER_MASK)
        self.probabilities = ActivationPoint(integer, f"{path}.probabilities", bounds=UNIT_BOUNDS)
        self.context = ActivationPoint(policy, f"{path}.context")
        self.output_dense = dense("output_dense", self.context, width)
        self.dropout = Dropout(config.attention_probs_dropout_prob)

    @property
    def scale(self) -> float:
        """What scores are multiplied by."""
        return self.head_size**-0.5

    def call(self, x, bias, values=None, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        x = self.reads(x, training=training)
        values = x if self.value_reads is None else self.value_reads(values, training=training)
        q = self.query(x, training=training)
        if layout.sums:
            context, probabilities = self._by_sums(q, self.key(x), self.value(values), bias)
            return self.output_dense(self.context(context)), probabilities
        q = self._split(q if layout.scaled_query else q * self.scale)  # (B, S, H) -split-> (B, N, S, D)
        k = self._split(self.key(x, training=training))
        v = self._split(self.value(values, training=training))
        tap("attention", (q, k, v))
        scores = self.scores(tf.matmul(q, k, transpose_b=True), training=training)  # (B, N, S, S)
        scores = self.masked_scores(scores + tf.cast(bias, q.dtype), training=training)
        probabilities = self.probabilities(tf.nn.softmax(tf.cast(scores, tf.float32)), training=training)
        probabilities = tf.cast(probabilities, x.dtype)
        context = self._merge(
            tf.matmul(self.dropout(probabilities, training=training), v)
        )  # (B, N, S, D) -merge-> (B, S, H)
        return self.output_dense(self.context(context, training=training), training=training), probabilities

    def _by_sums(self, q, k, v, bias):
        """q, k, v (1, S, W), bias (1, 1, 1, S) -> context (1, S, W), probabilities (1, N, S, S), by operators of
        `kerasbert.layers.lowering.decomposed_attention`; q is scaled."""
        hold, ranges = unheld, {}
        if self.scores.kind == "static":
            hold, names = in_eight_bits, ("query", "key", "value")
            ranges = {
                name: (float(getattr(self, name).writes.minimum), float(getattr(self, name).writes.maximum))
                for name in names
            }
        largest = [max(map(abs, ranges.get(name, (0.0,)))) for name in ("query", "key")]
        scores = self.scores(scores_by_sums(q, k, self.heads, hold, largest[0] * largest[1]))
        scores = self.masked_scores(scores + tf.reshape(bias, (1, 1, -1, 1)))
        probabilities = logistic_softmax(scores, hold)
        context = context_by_sums(probabilities, v, hold, *ranges.get("value", ()))
        return context, tf.transpose(probabilities, (0, 3, 1, 2))

    def _split(self, x):
        return tf.transpose(tf.reshape(x, (*leading(x), self.heads, self.head_size)), (0, 2, 1, 3))

    def _merge(self, x):
        x = tf.transpose(x, (0, 2, 1, 3))
        return tf.reshape(x, (*leading(x), self.heads * self.head_size))


def attention_bias(attention_mask, mask_constant: float, integer_only: bool = False):
    """(B, S) of ones and zeros -> (B, 1, 1, S): zero where attended, `mask_constant` where not.

    integer_only: `INTEGER_MASK` where not, looked up in a table of two, which needs no float.
    """
    attended = tf.expand_dims(
        tf.expand_dims(attention_mask, 1), 1
    )  # while it is small and whole numbers: one partition more otherwise
    if integer_only:
        table = tf.constant([INTEGER_MASK, 0.0])
        return tf.quantization.fake_quant_with_min_max_args(tf.gather(table, attended), INTEGER_MASK, 0.0)
    return (1.0 - tf.cast(attended, tf.float32)) * mask_constant
