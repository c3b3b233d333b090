"""Small networks that are trained while the model around them stays as it is."""

import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.activations import activation
from kerasbert.layers.bottleneck import MobileBertBlock
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import QuantizationPolicy

_DEVIATION = 1e-2  # of both kernels at first, as in the main experiments of Houlsby et al. 2019


class Adapter(keras.layers.Layer):
    """Down to a few numbers a token, an activation, up again, added to what came in (Houlsby et al. 2019, section 2.1).

    (B, S, W) -> (B, S, W); size: how many numbers. It has 2 W size + W + size parameters. Kernels start near zero, so that a new adapter is
    nearly an identity; the activation is the encoder's.
    """

    def __init__(self, config, policy: QuantizationPolicy | None, path: str, width: int, size: int):
        super().__init__(name=path.replace(".", "_"))
        # The converter would fold the bias of the Dense layer before it into `down`.
        self.input_quantizer = activation_quantizer(policy, f"{path}.input", prevent_bias_folding=True)
        self.down = make_dense(
            size, self.input_quantizer, policy, f"{path}.down",
            initializer=_near_zero(), activation=activation(config.hidden_act),
        )  # fmt: skip
        self.hidden = activation_quantizer(policy, f"{path}.hidden")
        self.up = make_dense(width, self.hidden, policy, f"{path}.up", initializer=_near_zero())

    def call(self, x, training=None):
        y = self.down(self.input_quantizer(x, training=training), training=training)  # (B, S, size)
        return x + self.up(self.hidden(y, training=training), training=training)


def insert_adapters(encoder, size: int) -> None:
    """Puts an adapter behind the attention and the (last) feed-forward network of every block, before the residual sum.

    Raises KerasBertError for a size that is not a whole number of at least 1.
    """
    check_size(size)
    for number, block in enumerate(encoder.layers):
        path = f"layers.{number}"
        if isinstance(block, MobileBertBlock):
            network = f"{path}.feed_forwards.{len(block.feed_forwards) - 1}"
            width, last, behind = encoder.config.true_hidden_size, block.feed_forwards[-1], f"{network}.adapter"
        else:
            width, last, behind = encoder.config.hidden_size, block, f"{path}.feed_forward_adapter"
        block.attention_adapter = Adapter(encoder.config, encoder.policy, f"{path}.attention_adapter", width, size)
        setattr(last, behind.rpartition(".")[2], Adapter(encoder.config, encoder.policy, behind, width, size))


def check_size(size: int | None) -> None:
    """Raises KerasBertError for what is no size of an adapter."""
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise KerasBertError(f"expected adapters as a whole number of at least 1, such as 64, received {size!r}")


def _near_zero() -> keras.initializers.Initializer:
    return keras.initializers.TruncatedNormal(stddev=_DEVIATION)
