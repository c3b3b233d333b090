"""Keras' Dense layers inside of a user's head, made Dense layers of kerasbert: quantized, pruned and exported as all others."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import gelu
from kerasbert.layers.dense import Dense
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import QuantizedDense, flat_outside
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.quantization.weight_quantizers import KernelFakeQuant

_ACTIVATIONS = {
    keras.activations.linear: None,
    keras.activations.relu: tf.nn.relu,
    keras.activations.tanh: tf.tanh,
    keras.activations.gelu: gelu,
}


class AdoptedDense(Dense, keras.layers.Dense):
    """Keras' Dense layer as a Dense layer of kerasbert, in float. It calls its input quantizer itself."""

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        return super().call(self.input_quantizer(x, training=training), training=training)


class AdoptedQuantizedDense(QuantizedDense, keras.layers.Dense):
    """The same with fake quantizers."""

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        return super().call(self.input_quantizer(x, training=training), training=training)


def adopt(dense: keras.layers.Dense, policy: QuantizationPolicy | None, path: str) -> None:
    """Make a built Dense layer of Keras one of kerasbert, in place. Its variables stay.

    The user's code refers to the object, so its class changes, as that of torch's parametrized modules does.

    Args:
        dense: The layer.
        policy: The quantization policy, or None for float.
        path: The name that policies match.
    """
    settings: dict[str, Any] = {"path": path, "has_bias": dense.use_bias, "bias": dense.bias, "factor": None}
    settings["activation"] = _ACTIVATIONS.get(dense.activation, dense.activation)
    # The converter would fold what stands before and behind the layer into its kernel, which was trained without it.
    settings["input_quantizer"] = activation_quantizer(policy, f"{path}.input", prevent_bias_folding=policy is not None)
    if policy is not None:
        low, high = flat_outside(settings["activation"])
        settings["output_quantizer"] = activation_quantizer(
            policy, f"{path}.output", clip_min=low, clip_max=high, prevent_bias_folding=True
        )
        settings["kernel_quantizer"] = KernelFakeQuant(policy, f"{path}.kernel")
        settings["_residual"] = None
    for name, value in settings.items():
        setattr(dense, name, value)
    object.__setattr__(dense, "__class__", AdoptedDense if policy is None else AdoptedQuantizedDense)
    dense._init_call_fn_args()  # Keras now gives `training` to `call`
