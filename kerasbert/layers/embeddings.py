"""Token ids to vectors: word + position + token type, normalized."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.embedding_table import make_embedding_table
from kerasbert.layers.quantization.norms import make_norm
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.quantization.weight_quantizers import ConstantFakeQuant


class Embeddings(keras.layers.Layer):
    """Ids and token types (B, S) -> (B, S, H): word + position + token type, normalized (Devlin et al. 2018, figure 2).

    width: of the tables, where it is not the hidden size. project: whether a Dense layer brings the normalized sum to the hidden size
    (ALBERT's factorised embeddings, Lan et al. 2019, section 3.1).
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str = "embeddings",
        *,
        width: int | None = None,
        word_width: int | None = None,
        project: bool = False,
        norm: str = "layer_norm",
        epsilon: float | None = None,
    ):
        super().__init__(name=path)
        # Small tables stay in float: one scale for the position table leaves an error of 17 % of its size in a real checkpoint, and a file
        # of fixed length holds its first rows as a float constant anyway.
        width, integer = width or config.hidden_size, integer_part(policy)

        def table(name: str, rows: int, width: int, policy):
            return make_embedding_table(rows, width, policy, f"{path}.{name}", truncated_normal(config))

        self.offset = config.position_offset
        self.word = table("word", config.vocab_size, word_width or width, policy)
        self.position = table("position", config.max_position_embeddings, width, integer)
        self.position_quantizer = ConstantFakeQuant(integer, f"{path}.position_rows")
        self.token_type = None
        if config.type_vocab_size:
            self.token_type = table("token_type", config.type_vocab_size, width, integer)
        self.position_sum = activation_quantizer(integer if config.type_vocab_size else None, f"{path}.positioned")
        self.sum = activation_quantizer(integer, f"{path}.stream", residual=True)
        self.norm = make_norm(norm, epsilon or config.layer_norm_eps, f"{path}.norm", policy)
        self.dropout = Dropout(config.hidden_dropout_prob)
        self.projection = None
        if project:
            self.projection_quantizer = activation_quantizer(policy, f"{path}.projection.input")
            self.projection = make_dense(
                config.hidden_size, self.projection_quantizer, policy, f"{path}.projection",
                initializer=truncated_normal(config), prevent_bias_folding=True,
            )  # fmt: skip

    def call(self, input_ids, token_type_ids, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        x = self.words(input_ids, training=training, layout=layout) + self._positions(input_ids, layout)  # (B, S, W)
        if self.token_type is not None:
            x = self.position_sum(x, training=training) + self.token_type(token_type_ids, layout=layout)
        x = self.norm(self.sum(x, training=training), training=training, layout=layout)
        x = self.dropout(x, training=training)
        if self.projection is None:
            return x
        return self.projection(self.projection_quantizer(x, training=training), training=training)  # (B, S, H)

    def words(self, input_ids, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        """(B, S) -> (B, S, W), to which positions and token types are added."""
        return self.word(input_ids, layout=layout)

    def _positions(self, input_ids, layout: LoweringOptions):
        """(S, W), (1, S, W) or (B, S, W)."""
        if layout.positions == "gather":
            ones = tf.ones_like(input_ids)
            return self.position(tf.cumsum(ones, axis=1) - ones + self.offset)
        length = input_ids.shape[1] or tf.shape(input_ids)[1]
        rows = self.position_quantizer(self.position.slice(self.offset, length))
        return rows[None] if layout.flat_ids else rows  # of the rank of the word vectors
