"""Lookup of ids in a table."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.lowering.gathering import gather_rows
from kerasbert.layers.lowering.options import lowering_options


class EmbeddingTable(keras.layers.Layer):
    """A table of vectors: ids (B, S) -> (B, S, width)."""

    quantized = False
    channel_scales: tf.Variable | None = None  # equalization scales of the columns

    def __init__(self, rows: int, width: int, path: str, initializer: keras.initializers.Initializer):
        super().__init__(name=path.replace(".", "_"))
        self.path = path
        self.table = self.add_weight("table", (rows, width), initializer=initializer)

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        table = tf.cast(self.table, self.compute_dtype or tf.float32)
        return self.served_rows(gather_rows(table, ids))

    def served_rows(self, rows: tf.Tensor) -> tf.Tensor:
        """Return rows (..., width) as the file holds them."""
        return rows

    def served_table(self) -> tf.Tensor:
        """Return the whole table (rows, width) as the file holds it."""
        return tf.convert_to_tensor(self.table)

    def positions(self, ids: tf.Tensor, offset: int) -> tf.Tensor:
        """Return the rows of the positions of ids (B, S), from row `offset` on: (S, width), (1, S, width) or (B, S, width)."""
        lowering = lowering_options()
        if lowering.positions == "gather":
            ones = tf.ones_like(ids)
            return self(tf.cumsum(ones, axis=1) - ones + offset)
        last = offset + (ids.shape[1] or tf.shape(ids)[1])
        rows = self.table[offset:last]  # in float: a constant of its own in a graph
        rows = self.served_rows(tf.cast(rows, self.compute_dtype or tf.float32))
        return rows[None] if lowering.rank1_ids else rows  # the rank of the token embeddings
