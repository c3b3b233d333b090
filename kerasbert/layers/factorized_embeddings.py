"""Embeddings of ALBERT and ELECTRA."""

import tensorflow as tf

from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import QuantizationPolicy


class FactorizedEmbeddings(Embeddings):
    """Narrow embeddings and a Dense layer to the hidden size (Lan et al. 2019, section 3.1): ids (B, S) -> (B, S, H).

    Args:
        config: the encoder's sizes.
        policy: the quantization policy, or None for float.
        width: the width of the tables, E.
    """

    def __init__(self, config: EncoderConfig, policy: QuantizationPolicy | None, width: int):
        super().__init__(config, policy, width=width)
        self.projection_quantizer = activation_quantizer(policy, "embeddings.projection.input")
        self.projection = make_dense(
            config.hidden_size, self.projection_quantizer, policy, "embeddings.projection",
            initializer=truncated_normal(config), prevent_bias_folding=True,
        )  # fmt: skip

    def call(
        self, input_ids: tf.Tensor, token_type_ids: tf.Tensor, training: bool | None = None,
        layout: LoweringOptions = TRAINING_OPTIONS,
    ) -> tf.Tensor:  # fmt: skip
        x = super().call(input_ids, token_type_ids, training=training, layout=layout)  # (B, S, E)
        return self.projection(self.projection_quantizer(x, training=training), training=training)  # (B, S, H)
