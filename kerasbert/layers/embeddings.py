"""Token ids to vectors: word + position + token type, normalized."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.initializers import normal
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.points import QuantizationPolicy, table_fake_quant


class EmbeddingTable(keras.layers.Layer):
    """One row of `width` floats for each of `rows` ids; a policy may hold the table in int8."""

    def __init__(self, rows: int, width: int, policy: QuantizationPolicy | None, path: str, initializer):
        super().__init__(name=path.replace(".", "_"))
        self.path, self.quantized = path, bool(policy and policy.tables)
        self.table = self.add_weight("table", (rows, width), initializer=initializer)

    def call(self, ids):
        return self._on_grid(tf.gather(tf.cast(self.table, self.compute_dtype), ids))

    def on_grid(self):
        """The whole table as a file stores it: (rows, width), on its int8 grid where a policy says so."""
        return self._on_grid(self.table)

    def first(self, length):
        """Rows 0..length-1."""
        return self._on_grid(tf.cast(self.table[:length], self.compute_dtype))

    def _on_grid(self, rows):
        return table_fake_quant(rows, self.table) if self.quantized else rows


class Embeddings(keras.layers.Layer):
    """BERT's input (Devlin et al. 2018, figure 2): ids and token types (B, S) -> (B, S, H)."""

    def __init__(self, config, policy: QuantizationPolicy | None, path: str = "embeddings"):
        super().__init__(name=path)
        width = config.hidden_size
        self.word = EmbeddingTable(config.vocab_size, width, policy, f"{path}.word", normal(config))
        # Small tables stay in float: one scale for the position table leaves an error of 17 % of its size in a real checkpoint, and a file
        # of fixed length holds its first rows as a float constant anyway.
        self.position = EmbeddingTable(config.max_position_embeddings, width, None, f"{path}.position", normal(config))
        self.token_type = EmbeddingTable(config.type_vocab_size, width, None, f"{path}.token_type", normal(config))
        self.norm = LayerNorm(config.layer_norm_eps, f"{path}.norm")
        self.dropout = keras.layers.Dropout(config.hidden_dropout_prob)

    def call(self, input_ids, token_type_ids, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        x = self.word(input_ids) + self._positions(input_ids, layout) + self.token_type(token_type_ids)  # (B, S, H)
        return self.dropout(self.norm(x), training=training)

    def _positions(self, input_ids, layout):
        if layout.positions == "gather":
            ones = tf.ones_like(input_ids)
            return self.position(tf.cumsum(ones, axis=1) - ones)
        length = input_ids.shape[1] or tf.shape(input_ids)[1]
        return self.position.first(length)
