"""Token ids to vectors."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.dropout import Dropout
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.edges import Edges, embedding_edges
from kerasbert.layers.quantization.embedding_table import table_bound
from kerasbert.layers.quantization.factory import LayerFactory


class Embeddings(keras.layers.Layer):
    """Token + position + token type embeddings, normalized (Devlin et al. 2018, figure 2): ids (B, S) -> (B, S, W).

    Args:
        make: the factory of the layer. The two small tables stay in float but in integer-only models.
        width: W, by default the hidden size.
        token_width: width of the token table, by default W.
        norm: `layer_norm` or `no_norm`.
        epsilon: of the norm, by default the config's.
    """

    def __init__(
        self, make: LayerFactory, *, width: int | None = None, token_width: int | None = None, norm: str = "layer_norm",
        epsilon: float | None = None,
    ):  # fmt: skip
        super().__init__(name=make.name)
        config, width = make.config, width or make.config.hidden_size
        self.offset = config.position_offset
        self.word: EmbeddingTable = make.table("word", config.vocab_size, token_width or width)
        self.position = self.token_type = None
        if config.has_position_table:
            self.position = make.table("position", config.max_position_embeddings, width, integer_only=True)
        if config.type_vocab_size:
            self.token_type = make.table("token_type", config.type_vocab_size, width, integer_only=True)
            self.position_sum = make.quantizer("positioned", integer_only=True)
        alone = self.word if self.position is None and self.token_type is None else None  # then there is nothing to sum
        self.sum = make.quantizer("stream", integer_only=True, residual=True, table_bound=table_bound(alone))
        self.norm: Norm = make.norm("norm", norm, epsilon)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def call(self, input_ids: tf.Tensor, token_type_ids: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = self.tokens(input_ids, training=training)  # (B, S, W)
        if self.position is not None:
            x = x + self.position.positions(input_ids, self.offset)  # (S, W), (1, S, W) or (B, S, W)
        if self.token_type is not None:
            x = self.position_sum(x, training=training) + self.token_type(token_type_ids)
        x = self.norm(self.sum(x, training=training), training=training)
        return self.dropout(x, training=training)  # (B, S, W)

    def edges(self) -> Edges:
        return embedding_edges(self, self.word)

    def tokens(self, input_ids: tf.Tensor, training: bool | None) -> tf.Tensor:
        """Look tokens up: (B, S) -> (B, S, W)."""
        return self.word(input_ids)
