"""Several heads on one encoder."""

from collections.abc import Mapping

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.heads.checks import Findings
from kerasbert.heads.head import Head
from kerasbert.heads.own_head import OwnHead


class HeadSet(keras.layers.Layer):
    """Heads by name; the result is a dict of their logits.

    Args:
        heads: The heads of kerasbert and of users.
    """

    def __init__(self, heads: Mapping[str, Head | OwnHead]):
        super().__init__(name="heads")
        self.parts = dict(heads)
        self.built = True

    def logits(self, encoded: EncoderOutput, mask: tf.Tensor, training: bool | None = None) -> dict[str, tf.Tensor]:
        """Return the logits of each head, float32."""
        return {name: head.logits(encoded, mask, training) for name, head in self.parts.items()}

    def own_variables(self) -> dict[str, tf.Variable]:
        """Return the weights by path."""
        return {
            f"{name}.{path}": variable
            for name, head in self.parts.items()
            for path, variable in (
                head.own_variables()
                if isinstance(head, OwnHead)
                else {"kernel": head.dense.kernel, "bias": head.dense.bias}
            ).items()
        }

    @property
    def findings(self) -> Findings:
        """What any of the heads reads."""
        reads = [head.findings.reads if isinstance(head, OwnHead) else {head.reads} for head in self.parts.values()]
        return Findings(frozenset().union(*reads))

    @property
    def float_layers(self) -> list[str]:
        """Layers with matrices that stay in float in a quantized model."""
        return [each for head in self.parts.values() if isinstance(head, OwnHead) for each in head.float_layers]

    def unread_parts(self, encoder: Encoder) -> list[keras.layers.Layer]:
        """Return the layers of an encoder that no head reads."""
        return [encoder.pooler] if encoder.pooler is not None and "pooled" not in self.findings.reads else []
