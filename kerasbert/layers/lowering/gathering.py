"""Lookup of rows in the form that a target accepts."""

import tensorflow as tf

from kerasbert.layers.lowering.options import leading, lowering_options


def gather_rows(table: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Look ids (B, S) up in a table (rows, width): (B, S, width)."""
    if not lowering_options().rank1_ids:
        return tf.gather(table, ids)
    rows = tf.gather(table[None], tf.reshape(ids, (-1,)), axis=1)  # (1, rows, width) -> (1, B S, width)
    return rows if ids.shape[0] == 1 else tf.reshape(rows, (*leading(ids), table.shape[1]))
