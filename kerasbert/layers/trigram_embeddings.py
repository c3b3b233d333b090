"""Embeddings of MobileBERT."""

import tensorflow as tf

from kerasbert.layers.bottleneck import MOBILEBERT_EPSILON
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.lowering.options import LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import QuantizationPolicy


class TrigramEmbeddings(Embeddings):
    """A narrow token table, three neighbouring tokens side by side, and a Dense layer to the hidden size (Sun et al. 2020, section 4).

    Args:
        config: the encoder's sizes.
        policy: the quantization policy, or None for float.
        width: the width of the token table, E.
        trigram: False reads each token alone.
        norm: `layer_norm` or `no_norm`.
    """

    def __init__(
        self, config: EncoderConfig, policy: QuantizationPolicy | None, width: int, *, trigram: bool, norm: str
    ):
        super().__init__(config, policy, token_width=width, norm=norm, epsilon=MOBILEBERT_EPSILON)
        self.trigram, self.transformation = trigram, None
        if trigram or width != config.hidden_size:
            self.transformation_quantizer = activation_quantizer(policy, "embeddings.transformation.input")
            self.transformation = make_dense(
                config.hidden_size, self.transformation_quantizer, policy, "embeddings.transformation",
                initializer=truncated_normal(config), prevent_bias_folding=True,
            )  # fmt: skip

    def tokens(self, input_ids: tf.Tensor, training: bool | None, layout: LoweringOptions) -> tf.Tensor:
        x = self.word(input_ids, layout=layout)  # (B, S, E)
        if self.trigram:
            following = tf.pad(x[:, 1:], ((0, 0), (0, 1), (0, 0)))
            preceding = tf.pad(x[:, :-1], ((0, 0), (1, 0), (0, 0)))
            x = tf.concat([following, x, preceding], axis=2)  # (B, S, 3 E)
        if self.transformation is None:
            return x
        return self.transformation(self.transformation_quantizer(x, training=training), training=training)  # (B, S, H)
