"""Token ids to vectors."""

from collections.abc import Callable

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.edges import Edges, embedding_edges
from kerasbert.layers.quantization.embedding_table import table_bound
from kerasbert.layers.quantization.factory import LayerFactory


class Embeddings(keras.layers.Layer):
    """Token + position + token type embeddings, normalized (Devlin et al. 2018, figure 2): ids (B, S) -> (B, S, W).

    The token table may be the product of two factors: a narrow table and `word_factor`, a Dense layer without bias.

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
        rank, token_width = make.rank("word"), token_width or width
        self.word: EmbeddingTable = make.table("word", config.vocab_size, rank or token_width)
        self.word_factor: Dense | None = None
        if rank is not None:
            self.word_factor_quantizer = make.quantizer("word_factor.input", table_bound=self.rows_bound(make))
            self.word_factor = make.dense("word_factor", token_width, self.word_factor_quantizer, has_bias=False)
        self.position = self.token_type = None
        if config.has_position_table:
            self.position = make.table("position", config.max_position_embeddings, width, integer_only=True)
        if config.type_vocab_size:
            self.token_type = make.table("token_type", config.type_vocab_size, width, integer_only=True)
            self.position_sum = make.quantizer("positioned", integer_only=True)
        alone = None  # a table to which nothing is added
        if self.position is None and self.token_type is None and self.word_factor is None:
            alone = self.word
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
        return embedding_edges(self, self.word_writer())

    def tokens(self, input_ids: tf.Tensor, training: bool | None) -> tf.Tensor:
        """Look tokens up: (B, S) -> (B, S, W)."""
        return self.words(input_ids, training)

    def words(self, input_ids: tf.Tensor, training: bool | None) -> tf.Tensor:
        """Look tokens up in the table, or in the product of its factors: (B, S) -> (B, S, token width)."""
        x = self.word(input_ids)
        if self.word_factor is None:
            return x
        return self.word_factor(self.word_factor_quantizer(x, training=training), training=training)

    def word_writer(self) -> keras.layers.Layer:
        """The layer that writes the token embeddings: the table, or its second factor."""
        return self.word if self.word_factor is None else self.word_factor

    def rows_bound(self, make: LayerFactory) -> Callable[[], float | tf.Tensor] | None:
        """Return the bound of the rows' grid in an integer-only model, see `table_bound`."""
        return table_bound(self.word) if make.integer_only and self.word_factor is None else None
