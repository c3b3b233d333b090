"""MobileBERT's norm."""

import tensorflow as tf

from kerasbert.layers.norms import Norm, per_channel


class NoNorm(Norm):
    """MobileBERT's scale and shift without statistics (Sun et al. 2020, section 4.3): (..., H) -> (..., H)."""

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        return x * per_channel(self.gamma, x) + per_channel(self.beta, x)
