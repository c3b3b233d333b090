"""ELECTRA's generator: a small masked language model that shares the embeddings of the model that learns from it."""

from dataclasses import fields, replace
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.electra import ElectraConfig, ElectraEncoder
from kerasbert.errors import KerasBertError
from kerasbert.layers.blocks.heads import masked_lm_head

_SHARED = ("word", "position", "token_type", "norm")  # layers of the embeddings
HEAD_SIZE = 64  # numbers in an attention head, as of all published ELECTRAs


def generator_config(encoder: Encoder, share: float) -> ElectraConfig:
    """Return the sizes of a generator: as many layers, each with a share of the width (Clark et al. 2020, section 3.2).

    Args:
        encoder: The encoder that learns from it.
        share: The fraction of its hidden size, above 0.

    Raises:
        KerasBertError: When the share leaves no width.
    """
    config: Any = encoder.config
    hidden = round(config.hidden_size * share / 2) * 2
    if hidden < 2:
        raise KerasBertError(
            f"expected a generator_size that leaves 2 or more of {config.hidden_size} hidden numbers, received {share}; take a larger one"
        )
    heads = max(1, hidden // HEAD_SIZE)
    while hidden % heads:
        heads -= 1
    names = [each.name for each in fields(ElectraConfig)]
    common = {name: getattr(config, name) for name in names if hasattr(config, name)}
    sizes = {
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden,
        "embedding_size": int(encoder.embeddings.word.table.shape[-1]),
    }
    return replace(ElectraConfig(), **{**common, **sizes})


class Generator(keras.layers.Layer):
    """A masked language model on shared embeddings: masked ids (B, S) -> logits of the masked tokens (N, V).

    Args:
        encoder: The encoder whose embedding tables and norm it shares. Its projection to the hidden size is its own.
        share: The fraction of the encoder's hidden size.
    """

    def __init__(self, encoder: Encoder, share: float):
        super().__init__(name="generator")
        self.encoder = ElectraEncoder(generator_config(encoder, share), pooler=False, name="generator_encoder")
        for name in _SHARED:
            setattr(self.encoder.embeddings, name, getattr(encoder.embeddings, name))
        self.masked_lm = masked_lm_head(self.encoder.config, None)

    def call(
        self, inputs: dict[str, tf.Tensor], positions: tf.Tensor | None, training: bool | None = None
    ) -> tf.Tensor:
        sequence = self.encoder(inputs, training=training).sequence  # (B, S, H)
        if positions is not None:
            sequence = tf.gather_nd(sequence, positions)  # (N, H)
        return self.masked_lm(sequence, self.encoder.embeddings.word, training=training)


def sample(logits: tf.Tensor, draws: tf.Tensor) -> tf.Tensor:
    """Draw a token from each distribution: logits (N, V), uniform numbers (N,) -> int32 ids (N,)."""
    cumulative = tf.cumsum(tf.nn.softmax(tf.stop_gradient(logits)), axis=-1)
    ids = tf.reduce_sum(tf.cast(cumulative < draws[:, tf.newaxis], tf.int32), axis=-1)
    return tf.minimum(ids, tf.shape(logits)[-1] - 1)
