"""An embedding table that a policy may hold in int8 or int4."""

from collections.abc import Callable

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.fake_quant import row_fake_quant, table_fake_quant
from kerasbert.layers.quantization.policy import QuantizationPolicy


class QuantizedEmbeddingTable(EmbeddingTable):
    """A table of vectors in int8, symmetric, with one scale, or in int4, with one for each row: ids (B, S) -> (B, S, width).

    Attributes:
        quantized: whether the policy holds the table in integers.
        observer: called with the layer and the rows of a quantized table, instead of quantizing.
        bound: the largest magnitude of the table, where a graph must hold it as a constant.
    """

    observer: Callable[[EmbeddingTable, tf.Tensor], tf.Tensor] | None

    def __init__(
        self, rows: int, width: int, policy: QuantizationPolicy, path: str, initializer: keras.initializers.Initializer
    ):
        super().__init__(rows, width, path, initializer)
        self.quantized = policy.tables
        self._bits = policy.table_bits
        self.observer = None
        self.bound: float | None = None
        self._residual: ActivationFakeQuant | None = None

    def write_to(self, residual: ActivationFakeQuant | None) -> None:
        """Scale and center the rows for the residual that they are added to; not for None."""
        self._residual = residual

    @property
    def channel_scales(self) -> tf.Variable | None:
        return None if self._residual is None else self._residual.channel_scales

    def served_rows(self, rows: tf.Tensor) -> tf.Tensor:
        return self._on_grid(self._for_residual(rows))

    def served_table(self) -> tf.Tensor:
        return self._on_grid(self.float_table())

    def float_table(self) -> tf.Tensor:
        """Return the whole table (rows, width) before it is quantized."""
        return self._for_residual(tf.convert_to_tensor(self.table))

    def rounded(self, rows: tf.Tensor) -> tf.Tensor:
        """Round rows (..., width) to the table's grid."""
        return table_fake_quant(rows, self.largest()) if self._bits is None else row_fake_quant(rows, self._bits)

    def largest(self) -> float | tf.Tensor:
        """Return the largest magnitude of the table before it is quantized, on which its grid depends."""
        return tf.reduce_max(tf.abs(self.float_table())) if self.bound is None else self.bound

    def _for_residual(self, rows: tf.Tensor) -> tf.Tensor:
        if self._residual is not None and self._residual.mean_offset is not None:
            rows = rows - tf.reduce_mean(rows, axis=-1, keepdims=True)
        return rows if self.channel_scales is None else rows * tf.cast(self.channel_scales, rows.dtype)

    def _on_grid(self, rows: tf.Tensor) -> tf.Tensor:
        if not self.quantized:
            return rows
        return self.rounded(rows) if self.observer is None else self.observer(self, rows)


def table_bound(table: EmbeddingTable | None) -> Callable[[], float | tf.Tensor] | None:
    """Return the function that returns the largest magnitude of a table in int8; None where rows are on no grid of a table."""
    return table.largest if isinstance(table, QuantizedEmbeddingTable) and table.quantized else None


def make_embedding_table(
    rows: int,
    width: int,
    policy: QuantizationPolicy | None,
    path: str,
    initializer: keras.initializers.Initializer,
) -> EmbeddingTable:
    """Make a table in float, or one that the policy may quantize."""
    if policy is None:
        return EmbeddingTable(rows, width, path, initializer)
    return QuantizedEmbeddingTable(rows, width, policy, path, initializer)
