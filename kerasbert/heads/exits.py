"""Exits behind some layers of an encoder, at which an easy text ends (DeeBERT, Xin et al. 2020)."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import argument
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.pooling import pool
from kerasbert.errors import KerasBertError
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.values import is_whole_number, short_repr

EXITS = "exits"  # the attribute of a task, and the start of the paths of weights


class Exit(keras.layers.Layer):
    """A pooler and a classifier behind a layer: (B, S, H) -> (B, outputs), float32. An exit for tokens has no pooler: (B, S, outputs).

    The pooler reads the mean of the tokens: in lower layers the first token has collected little of the others.

    Args:
        encoder: The encoder.
        layer: The number of layers before the exit.
        outputs: Numbers that it returns for each text, or for each token.
        per_token: Whether it answers for each token.
        rate: The dropout rate.
    """

    def __init__(self, encoder: Encoder, layer: int, outputs: int, per_token: bool, rate: float):
        path = f"{EXITS}.{layer}"
        super().__init__(name=path.replace(".", "_"))
        config, policy = encoder.config, encoder.policy
        self.layer, self.pooler = layer, None
        if not per_token:
            self.pooler_quantizer = activation_quantizer(policy, f"{path}.pooler.input")
            self.pooler = make_dense(
                config.hidden_size, self.pooler_quantizer, policy, f"{path}.pooler",
                initializer=truncated_normal(config), activation=tf.tanh,
            )  # fmt: skip
        self.dropout = Dropout(rate)
        self.input_quantizer = activation_quantizer(policy, f"{path}.classifier.input")
        self.dense = make_dense(
            outputs, self.input_quantizer, policy, f"{path}.classifier", initializer=truncated_normal(config)
        )
        self.built = True  # its layers build themselves

    def call(self, x: tf.Tensor, mask: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        if self.pooler is not None:
            x = self.pooler(self.pooler_quantizer(pool(x, mask, "mean"), training=training), training=training)
        x = self.dropout(x, training=training)
        return tf.cast(self.dense(self.input_quantizer(x, training=training), training=training), tf.float32)

    def logits(self, x: tf.Tensor, mask: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """Return the logits for the vectors (B, S, H) of the layer before, and the attention mask (B, S)."""
        return self.call(x, mask, training=training)  # without a scope of its own in the graph's names

    def dense_layers(self) -> dict[str, Any]:
        """Return its Dense layers by name."""
        return {"classifier": self.dense} | ({} if self.pooler is None else {"pooler": self.pooler})


class ExitSet(keras.layers.Layer):
    """The exits before the last one, in the order of their layers.

    Args:
        encoder: The encoder.
        layers: The number of layers before each exit, rising.
        outputs: Numbers that each returns for a text, or for a token.
        per_token: Whether they answer for each token.
        rate: The dropout rate.
    """

    def __init__(self, encoder: Encoder, layers: Sequence[int], outputs: int, per_token: bool, rate: float):
        super().__init__(name=EXITS)
        self.numbers = tuple(layers)
        self.parts = [Exit(encoder, layer, outputs, per_token, rate) for layer in layers]
        self.built = True

    def own_variables(self) -> dict[str, tf.Variable]:
        """Return the weights by path, which names the layer of each exit."""
        return {
            f"{part.layer}.{name}.{kind}": variable
            for part in self.parts
            for name, dense in part.dense_layers().items()
            for kind, variable in (("kernel", dense.kernel), ("bias", dense.bias))
        }


def checked_exits(exits: Any, layers: int) -> tuple[int, ...]:
    """Return the layers behind which there are exits, checked. The last layer always has one and may be named.

    Args:
        exits: Numbers of layers, counted from 1 and rising; None or nothing for no exit but the last.
        layers: The layers of the encoder.

    Raises:
        KerasBertError: When they are no such numbers, or none is before the last layer.
    """
    if exits is None or (isinstance(exits, list | tuple) and not exits):
        return ()
    if layers < 2:
        raise KerasBertError(
            f"expected a model of two or more layers for {argument(EXITS)}, received one of {layers}; leave it out"
        )
    numbers = list(exits) if isinstance(exits, list | tuple) else None
    if not numbers or not all(is_whole_number(each, 1, layers) for each in numbers):
        raise KerasBertError(
            f"expected {argument(EXITS)} as numbers of layers from 1 to {layers - 1}, received {short_repr(exits)}; name layers"
        )
    numbers = [int(each) for each in numbers]
    if numbers != sorted(set(numbers)):
        raise KerasBertError(
            f"expected {argument(EXITS)} as rising numbers of layers, received {numbers}; name each once"
        )
    before = tuple(each for each in numbers if each < layers)
    if not before:
        raise KerasBertError(
            f"expected {argument(EXITS)} with a layer before the last one, received {numbers}: the last of {layers} layers always has one; "
            "name one before it"
        )
    return before
