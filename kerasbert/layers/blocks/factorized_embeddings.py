"""Embeddings of ALBERT and ELECTRA."""

from typing import Any

import tensorflow as tf

from kerasbert.layers.blocks.embeddings import Embeddings
from kerasbert.layers.quantization.edges import Edges
from kerasbert.layers.quantization.factory import LayerFactory


class FactorizedEmbeddings(Embeddings):
    """Narrow embeddings and a Dense layer to the hidden size (Lan et al. 2019, section 3.1): ids (B, S) -> (B, S, H).

    Args:
        make: the factory of the layer. The tables have the config's `embedding_size`, E.
    """

    def __init__(self, make: LayerFactory):
        config: Any = make.config
        super().__init__(make, width=config.embedding_size)
        self.projection_quantizer = make.quantizer("projection.input")
        self.projection = make.dense(
            "projection", make.config.hidden_size, self.projection_quantizer, prevent_bias_folding=True
        )

    def call(self, input_ids: tf.Tensor, token_type_ids: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = super().call(input_ids, token_type_ids, training=training)  # (B, S, E)
        return self.projection(self.projection_quantizer(x, training=training), training=training)  # (B, S, H)

    def edges(self) -> Edges:
        return super().edges()._replace(output=self.projection, ties=[(self.projection_quantizer, self.norm)])
