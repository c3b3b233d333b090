"""Adapters: small networks that are trained while the rest of the model stays as it is."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.bottleneck import BottleneckConfig, MobileBertBlock
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.transformer_block import TransformerBlock

_DEVIATION = 1e-2  # of both kernels at first, as in the main experiments of Houlsby et al. 2019


class Adapter(keras.layers.Layer):
    """Two Dense layers with an activation between, and a residual (Houlsby et al. 2019, section 2.1): (B, S, W) -> (B, S, W).

    It has 2 W size + W + size parameters. Kernels start near zero, so that a new adapter is nearly an identity.

    Args:
        config: the encoder's sizes and its activation.
        policy: the quantization policy, or None for float.
        path: the name of the layer for policies.
        width: W.
        size: the inner width.
    """

    def __init__(self, config: EncoderConfig, policy: QuantizationPolicy | None, path: str, width: int, size: int):
        super().__init__(name=path.replace(".", "_"))
        # The converter would fold the bias of the previous Dense layer into `down`.
        self.input_quantizer = activation_quantizer(policy, f"{path}.input", prevent_bias_folding=True)
        self.down = make_dense(
            size, self.input_quantizer, policy, f"{path}.down", initializer=_near_zero(), activation=config.activation
        )
        self.hidden = activation_quantizer(policy, f"{path}.hidden")
        self.up = make_dense(width, self.hidden, policy, f"{path}.up", initializer=_near_zero())

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
    for number, block in enumerate(encoder.layers):
        _insert(block, encoder.config, encoder.policy, f"layers.{number}", size)


def check_size(size: int | None) -> None:
    """Check the size of an adapter; None is accepted.

    Raises:
        KerasBertError: when the size is not a whole number of at least 1.
    """
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise KerasBertError(f"expected adapters as a whole number of at least 1, such as 64, received {size!r}")


def _insert(
    block: TransformerBlock | MobileBertBlock,
    config: EncoderConfig,
    policy: QuantizationPolicy | None,
    path: str,
    size: int,
) -> None:
    width = config.true_hidden_size if isinstance(config, BottleneckConfig) else config.hidden_size
    block.attention_adapter = Adapter(config, policy, f"{path}.attention_adapter", width, size)
    if isinstance(block, MobileBertBlock):
        last = len(block.feed_forwards) - 1
        adapter = Adapter(config, policy, f"{path}.feed_forwards.{last}.adapter", width, size)
        block.feed_forwards[last].adapter = adapter
    else:
        block.feed_forward_adapter = Adapter(config, policy, f"{path}.feed_forward_adapter", width, size)


def _near_zero() -> keras.initializers.Initializer:
    return keras.initializers.TruncatedNormal(stddev=_DEVIATION)
