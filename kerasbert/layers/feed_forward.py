"""The feed-forward network."""

import tf_keras as keras

from kerasbert.layers.activations import activation
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import QuantizationPolicy


class FeedForward(keras.layers.Layer):
    """Two Dense layers with an activation between: (B, S, H) -> (B, S, I) -> (B, S, W).

    width: W, by default the config's hidden size. intermediate: I, by default the config's.
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        width: int | None = None,
        intermediate: int | None = None,
    ):
        super().__init__(name=path.replace(".", "_"))
        width, inner = width or config.hidden_size, intermediate or config.intermediate_size
        self.input_quantizer = activation_quantizer(policy, f"{path}.input")
        self.intermediate = make_dense(
            inner, self.input_quantizer, policy, f"{path}.intermediate",
            initializer=truncated_normal(config), activation=activation(config.hidden_act),
        )  # fmt: skip
        self.hidden = activation_quantizer(policy, f"{path}.hidden")
        self.output_dense = make_dense(
            width, self.hidden, policy, f"{path}.output_dense", initializer=truncated_normal(config)
        )

    def call(self, x, training=None):
        x = self.intermediate(self.input_quantizer(x, training=training), training=training)  # (B, S, I)
        return self.output_dense(self.hidden(x, training=training), training=training)  # (B, S, W)
