"""Adapters: small networks that are trained while the rest of the model stays as it is."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.values import Rule

_DEVIATION = 1e-2  # of both kernels at first, as in the main experiments of Houlsby et al. 2019


class Adapter(keras.layers.Layer):
    """Two Dense layers with an activation between, and a residual (Houlsby et al. 2019, section 2.1): (B, S, W) -> (B, S, W).

    It has 2 W size + W + size parameters. Kernels start near zero, so that a new adapter is nearly an identity.

    Args:
        make: the factory of the layer; the activation is its config's.
        width: W.
        size: the inner width.
    """

    def __init__(self, make: LayerFactory, width: int, size: int):
        super().__init__(name=make.name)
        # The converter would fold the bias of the previous Dense layer into `down`.
        self.input_quantizer = make.quantizer("input", prevent_bias_folding=True)
        self.down = make.dense(
            "down", size, self.input_quantizer, initializer=_near_zero(), activation=make.config.activation
        )
        self.hidden = make.quantizer("hidden")
        self.up = make.dense("up", width, self.hidden, initializer=_near_zero())

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        y = self.down(self.input_quantizer(x, training=training), training=training)  # (B, S, size)
        return x + self.up(self.hidden(y, training=training), training=training)  # (B, S, W)


def insert_adapters(encoder: keras.layers.Layer, size: int) -> None:
    """Insert an adapter after the attention and the (last) feed-forward network of every block, before the residual sum.

    Args:
        encoder: an encoder whose blocks are made and not built.
        size: the inner width of the adapters.

    Raises:
        KerasBertError: when the size is not a whole number of at least 1.
    """
    check_size(size)
    config = encoder.config
    for number, block in enumerate(encoder.layers):
        make = LayerFactory(config, encoder.policy, f"layers.{number}")
        for path, layer in block.adapter_slots().items():
            setattr(layer, path.rpartition(".")[2], Adapter(make.at(path), config.head_width, size))


def check_size(size: int | None) -> None:
    """Check the size of an adapter; None is accepted.

    Raises:
        KerasBertError: when the size is not a whole number of at least 1.
    """
    Rule(int | None, at_least=1).check(size, "adapters", advice="pass a whole number, such as 64")


def _near_zero() -> keras.initializers.Initializer:
    return keras.initializers.TruncatedNormal(stddev=_DEVIATION)
