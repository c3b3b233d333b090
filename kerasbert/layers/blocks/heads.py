"""Heads of more than one Dense layer."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import ACTIVATIONS
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.norms import per_channel
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.layers.quantization.policy import QuantizationPolicy


class MaskedLMHead(keras.layers.Layer):
    """Logits of every token of the vocabulary at every position: (B, S, H) -> (B, S, V) (Devlin et al. 2018, section 3.1).

    A Dense layer, an activation and a norm bring H to W, the width of the decoder. The decoder is the token table (V, E); an untied head
    has one of its own. Where E is smaller than W (MobileBERT), `further_decoder` (W - E, V) decodes the remaining channels.

    Args:
        config: the encoder's sizes.
        policy: the quantization policy, or None for float.
        width: W.
        activation: the name of the activation.
        further: W - E.
    """

    def __init__(
        self, config: EncoderConfig, policy: QuantizationPolicy | None, width: int, activation: str, further: int = 0
    ):
        super().__init__(name="masked_lm")
        make = LayerFactory(config, policy, "masked_lm")
        self.input_quantizer = make.quantizer("input")
        self.transform = make.dense("transform", width, self.input_quantizer, activation=ACTIVATIONS[activation])
        self.norm = make.norm("norm")
        self.unscaled = make.quantizer("unscaled", integer_only=True)
        self.decoder = self.further_decoder = None
        shape = (config.vocab_size, width - further)
        if not config.tie_word_embeddings:
            self.decoder = self.add_weight("decoder", shape, initializer=truncated_normal(config))
        if further:
            self.further_decoder = self.add_weight(
                "further_decoder", (further, shape[0]), initializer=truncated_normal(config)
            )
        self.bias = self.add_weight("bias", (config.vocab_size,), initializer="zeros")

    def call(self, sequence: tf.Tensor, words: EmbeddingTable, training: bool | None = None) -> tf.Tensor:
        x = self.transform(self.input_quantizer(sequence, training=training), training=training)
        x = self.norm(x, training=training)  # (B, S, W)
        if self.decoder is not None:
            table = self.decoder  # (V, E)
        else:
            table = words.served_table()
            if words.channel_scales is not None:
                x = self.unscaled(x / per_channel(words.channel_scales, x), training=training)
        narrow = x.shape[-1] if self.further_decoder is None else x.shape[-1] - self.further_decoder.shape[0]
        scores = tf.matmul(x[..., :narrow], tf.cast(table, x.dtype), transpose_b=True)  # (B, S, V)
        if self.further_decoder is not None:
            scores += tf.matmul(x[..., narrow:], tf.cast(self.further_decoder, x.dtype))
        return tf.cast(scores + tf.cast(self.bias, x.dtype), tf.float32)


class ReplacedTokenHead(keras.layers.Layer):
    """Logit of every token that it was replaced: (B, S, H) -> (B, S) (Clark et al. 2020, section 2)."""

    def __init__(self, config: EncoderConfig, policy: QuantizationPolicy | None):
        super().__init__(name="discriminator")
        make = LayerFactory(config, policy, "discriminator")
        self.input_quantizer = make.quantizer("input")
        self.transform = make.dense("transform", config.hidden_size, self.input_quantizer, activation=config.activation)
        self.hidden = make.quantizer("hidden")
        self.logits = make.dense("logits", 1, self.hidden)

    def call(self, sequence: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = self.transform(self.input_quantizer(sequence, training=training), training=training)  # (B, S, H)
        return tf.cast(self.logits(self.hidden(x, training=training), training=training)[..., 0], tf.float32)


def masked_lm_head(config: EncoderConfig, policy: QuantizationPolicy | None) -> MaskedLMHead:
    """Make the masked language model head of an architecture's checkpoints.

    A config whose head is no other than BERT's needs no `masked_lm_form`: width, activation, and the channels of its decoder beside the
    token embeddings.
    """
    bert = getattr(config, "embedding_size", config.hidden_size), config.hidden_act, 0
    form: tuple[int, str, int] = getattr(config, "masked_lm_form", bert)
    return MaskedLMHead(config, policy, *form)
