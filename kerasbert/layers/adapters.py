"""Small networks that are trained while the model around them stays as it is."""

import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.activations import activation
from kerasbert.layers.dense import Dense
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.quantization.quantizers import ActivationPoint

_DEVIATION = 1e-2  # of both kernels at first, as in the main experiments of Houlsby et al. 2019


class Adapter(keras.layers.Layer):
    """Down to a few numbers a token, an activation, up again, added to what came in (Houlsby et al. 2019, section 2.1).

    (B, S, W) -> (B, S, W); size: how many numbers. It has 2 W size + W + size parameters. Kernels start near zero, so that a new adapter is
    nearly an identity; the activation is the encoder's.
    """

    def __init__(self, config, policy: QuantizationPolicy | None, path: str, width: int, size: int):
        super().__init__(name=path.replace(".", "_"))
        # A dense lies before it, whose bias the converter would fold into `down`.
        self.reads = ActivationPoint(policy, f"{path}.input", keeps_bias=True)
        self.down = Dense(
            size,
            self.reads,
            policy,
            f"{path}.down",
            initializer=_near_zero(),
            activation=activation(config.hidden_act),
        )
        self.hidden = ActivationPoint(policy, f"{path}.hidden")
        self.up = Dense(width, self.hidden, policy, f"{path}.up", initializer=_near_zero())

    def call(self, x, training=None):
        y = self.down(self.reads(x, training=training), training=training)  # (B, S, size)
        return x + self.up(self.hidden(y, training=training), training=training)


def make_adapter(config, policy: QuantizationPolicy | None, path: str, width: int, size: int | None) -> Adapter | None:
    """An adapter, or None where `size` is None."""
    return None if size is None else Adapter(config, policy, path, width, size)


def check_size(size: int | None) -> None:
    """Raises KerasBertError for what is no size of an adapter."""
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise KerasBertError(f"expected adapters as a whole number of at least 1, such as 64, received {size!r}")


def _near_zero() -> keras.initializers.Initializer:
    return keras.initializers.TruncatedNormal(stddev=_DEVIATION)
