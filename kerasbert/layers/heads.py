"""Heads of more than one Dense layer."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import activation
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.norms import per_channel
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.norms import make_norm
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part


class MaskedLMHead(keras.layers.Layer):
    """Scores of every word at every place: (B, S, H) -> (B, S, V) (Devlin et al. 2018, section 3.1).

    A dense, an activation and a norm bring the sequence to the width of the word table, whose rows are the decoder. An untied head has a
    decoder of its own. Where the table is narrower than what is to be decoded (MobileBERT), `further_decoder` (H - E, V) holds the rest.

    width: what the dense gives. function: its activation's name.
    """

    def __init__(self, config, policy: QuantizationPolicy | None, width: int, function: str, further: int = 0):
        super().__init__(name="masked_lm")
        self.input_quantizer = activation_quantizer(policy, "masked_lm.input")
        self.transform = make_dense(
            width, self.input_quantizer, policy, "masked_lm.transform",
            initializer=truncated_normal(config), activation=activation(function),
        )  # fmt: skip
        self.norm = make_norm("layer_norm", config.layer_norm_eps, "masked_lm.norm", policy)
        self.unscaled = activation_quantizer(integer_part(policy), "masked_lm.unscaled")
        self.decoder = self.further_decoder = None
        shape = (config.vocab_size, width - further)
        if not config.tie_word_embeddings:
            self.decoder = self.add_weight("decoder", shape, initializer=truncated_normal(config))
        if further:
            self.further_decoder = self.add_weight(
                "further_decoder", (further, shape[0]), initializer=truncated_normal(config)
            )
        self.bias = self.add_weight("bias", (config.vocab_size,), initializer="zeros")

    def call(self, sequence, words: EmbeddingTable, training=None):
        x = self.norm(self.transform(self.input_quantizer(sequence, training=training), training=training))  # (B, S, W)
        table = self.decoder  # (V, E)
        if self.decoder is None:
            table = words.served_table()
            if words.channel_scales is not None:
                x = self.unscaled(x / per_channel(words.channel_scales, x), training=training)
        narrow = x.shape[-1] if self.further_decoder is None else x.shape[-1] - self.further_decoder.shape[0]
        scores = tf.matmul(x[..., :narrow], tf.cast(table, x.dtype), transpose_b=True)
        if self.further_decoder is not None:
            scores += tf.matmul(x[..., narrow:], tf.cast(self.further_decoder, x.dtype))
        return tf.cast(scores + tf.cast(self.bias, x.dtype), tf.float32)


class ReplacedTokenHead(keras.layers.Layer):
    """The logit that a token was replaced: (B, S, H) -> (B, S) (Clark et al. 2020, section 2)."""

    def __init__(self, config, policy: QuantizationPolicy | None):
        super().__init__(name="discriminator")
        self.input_quantizer = activation_quantizer(policy, "discriminator.input")
        self.transform = make_dense(
            config.hidden_size, self.input_quantizer, policy, "discriminator.transform",
            initializer=truncated_normal(config), activation=activation(config.hidden_act),
        )  # fmt: skip
        self.hidden = activation_quantizer(policy, "discriminator.hidden")
        self.logits = make_dense(1, self.hidden, policy, "discriminator.logits", initializer=truncated_normal(config))

    def call(self, sequence, training=None):
        x = self.transform(self.input_quantizer(sequence, training=training), training=training)
        return tf.cast(self.logits(self.hidden(x, training=training), training=training)[..., 0], tf.float32)


def masked_lm_head(config, policy: QuantizationPolicy | None) -> MaskedLMHead:
    """The head that checkpoints of this architecture have; only widths and activations differ."""
    embedding = getattr(config, "embedding_size", config.hidden_size)
    if config.model_type == "mobilebert":
        return MaskedLMHead(config, policy, config.hidden_size, config.hidden_act, config.hidden_size - embedding)
    function = {"electra": "gelu", "roberta": "gelu"}.get(config.model_type, config.hidden_act)
    return MaskedLMHead(config, policy, embedding, function)
