"""The head of the span boundary objective."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import gelu
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.layers.quantization.policy import QuantizationPolicy

PLACES = 64  # positions in a span: ten words of several tokens; later ones share the last
PLACE_WIDTH = 200  # Joshi et al. 2020, section 4.2


class SpanBoundaryHead(keras.layers.Layer):
    """Logits of each masked token from the two tokens beside its span and its place in it (Joshi et al. 2020, section 3.2).

    (B, S, H), positions (N, 2) -> (N, V), by two layers with GELU and a norm. The decoder is the token table (V, E).

    Args:
        config: The encoder's sizes.
        policy: The quantization policy, or None for float.
        width: E.
    """

    def __init__(self, config: EncoderConfig, policy: QuantizationPolicy | None, width: int):
        super().__init__(name="span_boundary")
        make = LayerFactory(config, policy, "span_boundary")
        initializer: Any = truncated_normal(config)  # Keras' annotation has names only
        self.places = keras.layers.Embedding(PLACES, PLACE_WIDTH, initializer)
        self.quantizers = [make.quantizer(f"input.{number}") for number in range(2)]
        self.transforms = [
            make.dense(f"transform.{number}", width, each, activation=gelu)
            for number, each in enumerate(self.quantizers)
        ]
        self.norms = [make.norm(f"norm.{number}") for number in range(2)]

    def call(
        self, sequence: tf.Tensor, table: tf.Tensor, positions: tf.Tensor | None, training: bool | None = None
    ) -> tf.Tensor:
        if positions is None:  # each token is a span of its own
            before, after = tf.roll(sequence, 1, axis=1), tf.roll(sequence, -1, axis=1)  # (B, S, H)
            place = tf.zeros(tf.shape(sequence)[:2], tf.int64)
        else:
            first, last = span_ends(positions)
            before = tf.gather_nd(sequence, tf.stack([positions[:, 0], first - 1], axis=1))  # (N, H)
            after = tf.gather_nd(sequence, tf.stack([positions[:, 0], last + 1], axis=1))
            place = tf.minimum(positions[:, 1] - first, PLACES - 1)
        x = tf.concat([before, after, tf.cast(self.places(place), before.dtype)], axis=-1)
        for quantizer, transform, norm in zip(self.quantizers, self.transforms, self.norms, strict=True):
            x = norm(transform(quantizer(x, training=training), training=training), training=training)  # (N, E)
        return tf.cast(tf.matmul(x, tf.cast(table, x.dtype), transpose_b=True), tf.float32)  # (N, V)


def span_ends(positions: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the first and the last token of each masked token's span.

    Args:
        positions: (row, token) of the masked tokens, in their order, int64 `(n, 2)`. Tokens that follow each other are a span.

    Returns:
        Two tensors, int64 `(n,)`.
    """
    row, token = positions[:, 0], positions[:, 1]
    goes_on = (row[1:] == row[:-1]) & (token[1:] == token[:-1] + 1)
    number = tf.cumsum(tf.cast(tf.concat([row[:1] < 0, tf.logical_not(goes_on)], axis=0), tf.int32))
    first, last = tf.math.segment_min(token, number), tf.math.segment_max(token, number)
    return tf.gather(first, number), tf.gather(last, number)
