"""An embedding table that a policy may hold in int8."""

import tensorflow as tf

from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.fake_quant import table_fake_quant
from kerasbert.layers.quantization.policy import QuantizationPolicy


class QuantizedEmbeddingTable(EmbeddingTable):
    """One row of `width` floats for each id, on the int8 grid of the whole table: symmetric, one scale.

    Attributes:
        quantized: whether the policy holds the table in int8.
        observer: called with the layer and the rows of a quantized table, in place of quantizing.
        bound: the table's largest magnitude, where a graph must hold it as a constant.
    """

    def __init__(self, rows: int, width: int, policy: QuantizationPolicy, path: str, initializer):
        super().__init__(rows, width, path, initializer)
        self.quantized = policy.tables
        self.observer = None
        self.bound: float | None = None
        self._residual: ActivationFakeQuant | None = None

    def write_to(self, residual: ActivationFakeQuant | None) -> None:
        """Notes the residual that rows are added to: they are scaled and centered for it. None: they are already."""
        self._residual = residual

    @property
    def channel_scales(self) -> tf.Variable | None:
        return None if self._residual is None else self._residual.channel_scales

    def served_rows(self, rows):
        return self._on_grid(self._written(rows))

    def served_table(self):
        return self._on_grid(self.float_table())

    def float_table(self):
        """The whole table (rows, width) before it is quantized."""
        return self._written(tf.convert_to_tensor(self.table))

    def slice(self, first: int, length):
        return self._written(super().slice(first, length))

    def rounded(self, rows):
        """Rows (..., width) on the table's int8 grid."""
        if self.bound is not None:
            return table_fake_quant(rows, self.bound)
        return table_fake_quant(rows, tf.reduce_max(tf.abs(self.float_table())))

    def _written(self, rows):
        """Rows as the residual takes them: centered and scaled."""
        if self._residual is not None and self._residual.mean_offset is not None:
            rows = rows - tf.reduce_mean(rows, axis=-1, keepdims=True)
        return rows if self.channel_scales is None else rows * tf.cast(self.channel_scales, rows.dtype)

    def _on_grid(self, rows):
        if not self.quantized:
            return rows
        return self.rounded(rows) if self.observer is None else self.observer(self, rows)


def make_embedding_table(
    rows: int, width: int, policy: QuantizationPolicy | None, path: str, initializer
) -> EmbeddingTable:
    """A table in float, or one that the policy may quantize."""
    if policy is None:
        return EmbeddingTable(rows, width, path, initializer)
    return QuantizedEmbeddingTable(rows, width, policy, path, initializer)
