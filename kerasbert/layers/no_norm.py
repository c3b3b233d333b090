"""MobileBERT's norm, and the Dense layer that it is folded into."""

from typing import Any

import tensorflow as tf

from kerasbert.layers.dense import Dense
from kerasbert.layers.norms import Norm, per_channel


class NoNorm(Norm):
    """MobileBERT's scale and shift without statistics (Sun et al. 2020, section 4.3): (..., H) -> (..., H)."""

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        return x * per_channel(self.gamma, x) + per_channel(self.beta, x)


class FoldedDense(Dense):
    """A Dense layer with a NoNorm behind it, which is multiplied into kernel and bias, as converters fold it.

    Attributes:
        folded: the NoNorm.
    """

    def __init__(self, *arguments: Any, folded: Norm, **options: Any):
        super().__init__(*arguments, **options)
        self.folded = folded

    def build(self, input_shape: tf.TensorShape) -> None:
        self.folded.build(tf.TensorShape((None, self.units)))
        super().build(input_shape)

    def served_kernel(self) -> tf.Tensor:
        return super().served_kernel() * self.folded.gamma

    def served_bias(self) -> tf.Tensor:
        return super().served_bias() * self.folded.gamma + self.folded.beta
