"""Embeddings of MobileBERT."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.blocks.bottleneck import MOBILEBERT_EPSILON
from kerasbert.layers.blocks.embeddings import Embeddings
from kerasbert.layers.quantization.embedding_table import QuantizedEmbeddingTable
from kerasbert.layers.quantization.factory import LayerFactory


class TrigramEmbeddings(Embeddings):
    """A narrow token table, three neighbouring tokens side by side, and a Dense layer to the hidden size (Sun et al. 2020, section 4).

    Args:
        make: the factory of the layer.
        width: the width of the token table, E.
        trigram: False reads each token alone.
        norm: `layer_norm` or `no_norm`.
    """

    def __init__(self, make: LayerFactory, width: int, *, trigram: bool, norm: str):
        super().__init__(make, token_width=width, norm=norm, epsilon=MOBILEBERT_EPSILON)
        self.trigram, self.transformation = trigram, None
        hidden = make.config.hidden_size
        if trigram or width != hidden:
            # Rows side by side lie on the grid of the table.
            shares_grid = make.integer_only and isinstance(self.word, QuantizedEmbeddingTable) and self.word.quantized
            quantizer = make.quantizer("transformation.input", table_bound=self.word.largest if shares_grid else None)
            self.transformation_quantizer = quantizer
            self.transformation = make.dense("transformation", hidden, quantizer, prevent_bias_folding=True)

    @property
    def token_writer(self) -> keras.layers.Layer:
        return self.word if self.transformation is None else self.transformation

    def tokens(self, input_ids: tf.Tensor, training: bool | None) -> tf.Tensor:
        x = self.word(input_ids)  # (B, S, E)
        if self.trigram:
            following = tf.pad(x[:, 1:], ((0, 0), (0, 1), (0, 0)))
            preceding = tf.pad(x[:, :-1], ((0, 0), (1, 0), (0, 0)))
            x = tf.concat([following, x, preceding], axis=2)  # (B, S, 3 E)
        if self.transformation is None:
            return x
        return self.transformation(self.transformation_quantizer(x, training=training), training=training)  # (B, S, H)
