"""Multi-head self-attention."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.initializers import normal
from kerasbert.layers.points import ActivationPoint, QuantizationPolicy


class SelfAttention(keras.layers.Layer):
    """Scaled dot-product attention in N heads of D = H / N (Vaswani et al. 2017), with its output projection.

    x (B, S, H), bias (B, 1, 1, S) -> context (B, S, W), probabilities (B, N, S, S). Softmax is computed in float32.
    width: W, by default the config's hidden size. separate_values: values are computed from a tensor of their own (MobileBERT).
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        *,
        width: int | None = None,
        separate_values: bool = False,
    ):
        super().__init__(name=path.replace(".", "_"))
        width = width or config.hidden_size
        self.heads, self.head_size = config.num_attention_heads, width // config.num_attention_heads

        def dense(name: str, reads: ActivationPoint) -> Dense:
            return Dense(width, reads, policy, f"{path}.{name}", initializer=normal(config))

        self.reads = ActivationPoint(policy, f"{path}.input")
        self.value_reads = ActivationPoint(policy, f"{path}.value_input") if separate_values else None
        self.query, self.key = dense("query", self.reads), dense("key", self.reads)
        self.value = dense("value", self.value_reads or self.reads)
        self.context = ActivationPoint(policy, f"{path}.context")
        self.output_dense = dense("output_dense", self.context)
        self.dropout = Dropout(config.attention_probs_dropout_prob)

    @property
    def scale(self) -> float:
        """What scores are multiplied by."""
        return self.head_size**-0.5

    def call(self, x, bias, values=None, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        x = self.reads(x, training=training)
        values = x if self.value_reads is None else self.value_reads(values, training=training)
        q = self.query(x, training=training)
        q = self._split(q if layout.scaled_query else q * self.scale)  # (B, S, H) -split-> (B, N, S, D)
        k = self._split(self.key(x, training=training))
        v = self._split(self.value(values, training=training))
        scores = tf.matmul(q, k, transpose_b=True) + tf.cast(bias, q.dtype)  # (B, N, S, S)
        probabilities = tf.cast(tf.nn.softmax(tf.cast(scores, tf.float32)), x.dtype)
        context = self._merge(
            tf.matmul(self.dropout(probabilities, training=training), v)
        )  # (B, N, S, D) -merge-> (B, S, H)
        return self.output_dense(self.context(context, training=training), training=training), probabilities

    def _split(self, x):
        return tf.transpose(tf.reshape(x, (*_lead(x), self.heads, self.head_size)), (0, 2, 1, 3))

    def _merge(self, x):
        x = tf.transpose(x, (0, 2, 1, 3))
        return tf.reshape(x, (*_lead(x), self.heads * self.head_size))


def _lead(x):
    """Batch and length for a reshape, one of them -1 where the graph knows only the other: a constant shape keeps tensors static."""
    batch, length = x.shape[0], x.shape[1]
    if batch is not None:
        return batch, length if length is not None else -1
    if length is not None:
        return -1, length
    shape = tf.shape(x)
    return shape[0], shape[1]


def attention_bias(attention_mask, mask_constant: float):
    """(B, S) of ones and zeros -> (B, 1, 1, S): zero where attended, `mask_constant` where not."""
    attended = tf.expand_dims(
        tf.expand_dims(attention_mask, 1), 1
    )  # while it is small and whole numbers: one partition more otherwise
    return (1.0 - tf.cast(attended, tf.float32)) * mask_constant
