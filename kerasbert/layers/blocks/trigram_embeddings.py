"""Embeddings of MobileBERT."""

from typing import Any

import tensorflow as tf

from kerasbert.layers.blocks.bottleneck import MOBILEBERT_EPSILON
from kerasbert.layers.blocks.embeddings import Embeddings
from kerasbert.layers.quantization.edges import Edges, embedding_edges
from kerasbert.layers.quantization.factory import LayerFactory


class TrigramEmbeddings(Embeddings):
    """A narrow token table, three neighbouring tokens side by side, and a Dense layer to the hidden size (Sun et al. 2020, section 4).

    Args:
        make: the factory of the layer. The token table has the config's `embedding_size`, E.
    """

    def __init__(self, make: LayerFactory):
        config: Any = make.config
        width, hidden = config.embedding_size, config.hidden_size
        super().__init__(make, token_width=width, norm=config.normalization_type, epsilon=MOBILEBERT_EPSILON)
        self.trigram, self.transformation = config.trigram_input, None  # without trigrams each token is read alone
        if self.trigram or width != hidden:
            # Rows side by side lie on the grid of the table.
            quantizer = make.quantizer("transformation.input", table_bound=self.rows_bound(make))
            self.transformation_quantizer = quantizer
            self.transformation = make.dense("transformation", hidden, quantizer, prevent_bias_folding=True)

    def edges(self) -> Edges:
        return embedding_edges(self, self.word_writer() if self.transformation is None else self.transformation)

    def tokens(self, input_ids: tf.Tensor, training: bool | None) -> tf.Tensor:
        x = self.words(input_ids, training)  # (B, S, E)
        if self.trigram:
            following = tf.pad(x[:, 1:], ((0, 0), (0, 1), (0, 0)))
            preceding = tf.pad(x[:, :-1], ((0, 0), (1, 0), (0, 0)))
            x = tf.concat([following, x, preceding], axis=2)  # (B, S, 3 E)
        if self.transformation is None:
            return x
        return self.transformation(self.transformation_quantizer(x, training=training), training=training)  # (B, S, H)
