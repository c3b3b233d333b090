"""A head of a user: built by its registered class or function, its Dense layers adopted, its weights by path."""

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.errors import KerasBertError
from kerasbert.heads.adopted_dense import adopt
from kerasbert.heads.checks import Findings, failure, findings
from kerasbert.heads.registry import head_named
from kerasbert.heads.tracked import tracked_layers, tracked_variables
from kerasbert.layers.dense import Dense

# Head -> findings by its settings and the sizes of the encoder.
_CHECKED: WeakKeyDictionary[Callable, dict[str, Findings]] = WeakKeyDictionary()


class OwnHead(keras.layers.Layer):
    """A head of a user on the outputs of an encoder, called as `layer(encoded, mask)`.

    Args:
        encoder: The encoder.
        name: The registered name.
        settings: Arguments of its class or function beside `outputs`.
        outputs: Numbers that it returns for each text, or for each token.
        per_token: Whether it answers for each token.
        path: The start of the paths of its weights and of its Dense layers.

    Attributes:
        layer: The user's layer.
        findings: What the head reads, and which of its layers its output depends on.

    Raises:
        KerasBertError: When there is no such head, it cannot be built, or what it does cannot be trained or exported.
    """

    def __init__(
        self,
        encoder: Encoder,
        name: str,
        settings: Mapping[str, Any],
        outputs: int,
        per_token: bool,
        path: str = "head",
    ):
        super().__init__(name=path.replace(".", "_"))
        self.registered_name, self.per_token = name, per_token
        head = head_named(name)
        self.layer = _built(head, name, outputs, settings)
        self._takes = _arguments(self.layer.call, name)
        width = (None, None, outputs) if per_token else (None, outputs)
        known, form = _CHECKED.setdefault(head, {}), json.dumps([dict(settings), width, *_sizes(encoder)])
        self.findings: Findings = findings(self._apply_layer, self.layer, name, encoder, width, known.get(form))
        known[form] = self.findings
        self._unread = []
        for place, dense in tracked_layers(self.layer):
            if type(dense) is keras.layers.Dense:
                adopt(dense, encoder.policy, f"{path}.{place}")
                dense.calls = self.findings.dense_calls.get(place, 0)
                self._unread += [dense.path] if not dense.calls else []
        self.built = True  # `findings` has called the layer

    def _apply_layer(self, encoded: EncoderOutput, mask: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        return _applied(self.layer, self._takes, encoded, mask, training)

    def logits(self, encoded: EncoderOutput, mask: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """Return the logits.

        Args:
            encoded: What the encoder returned, all hidden states and attentions too.
            mask: The attention mask, int32 `(batch, length)`.
            training: Whether dropout is applied.

        Returns:
            Float32 `(batch, outputs)`, or `(batch, length, outputs)`.
        """
        return tf.cast(self._apply_layer(encoded, mask > 0, training), tf.float32)

    def own_variables(self) -> dict[str, tf.Variable]:
        """Return the weights by path, also those that gradients do not train, as the averages of a BatchNormalization."""
        return tracked_variables(self.layer)

    def unread_parts(self, encoder: Encoder) -> list[keras.layers.Layer]:
        """Return the layers of an encoder on which the output does not depend: its pooler and its top blocks."""
        reads, first = self.findings.reads, self.findings.unread_layers
        pooler: list[keras.layers.Layer] = [] if encoder.pooler is None or "pooled" in reads else [encoder.pooler]
        blocks = list(encoder.stack())
        read = blocks if first is None else blocks[:first]
        return pooler + [block for block in encoder.layers if not any(block is each for each in read)]

    @property
    def unread(self) -> list[str]:
        """Paths of its Dense layers on which its output does not depend."""
        return self._unread

    @property
    def float_layers(self) -> list[str]:
        """Its layers with matrices that stay in float in a quantized model, by class and path."""
        return [
            f"{type(layer).__name__} ({place})" if place else type(layer).__name__
            for place, layer in tracked_layers(self.layer)
            if not isinstance(layer, Dense) and any(weight.shape.rank >= 2 for weight in layer._trainable_weights)
        ]


def _sizes(encoder: Encoder) -> list[Any]:
    """Return what the outputs of an encoder have their shapes from."""
    return [encoder.config.hidden_size, encoder.pools, [block.attention.heads for block in encoder.stack()]]


class _Function(keras.layers.Layer):
    """A function as a layer; it tracks the layers and the variables of the function's closure."""

    def __init__(self, function: Callable, name: str):
        super().__init__()
        self._function, self._takes = function, _arguments(function, name)
        for key, value in inspect.getclosurevars(function).nonlocals.items():
            if isinstance(value, keras.layers.Layer | tf.Variable | list | dict):
                setattr(self, f"closure_{key}", value)

    def call(self, encoded: EncoderOutput, mask: tf.Tensor | None = None, training: bool | None = None) -> Any:
        return _applied(self._function, self._takes, encoded, mask, training)


def _applied(
    function: Callable, takes: tuple[bool, bool], encoded: EncoderOutput, mask: tf.Tensor | None, training: bool | None
) -> Any:
    """Call a function with those arguments that it takes: the mask, and `training`."""
    arguments = (encoded, mask) if takes[0] else (encoded,)
    return function(*arguments, **({"training": training} if takes[1] else {}))


def _built(head: Callable, name: str, outputs: int, settings: Mapping[str, Any]) -> keras.layers.Layer:
    """Build a head by its class or function."""
    try:
        parameters = inspect.signature(head).parameters
        if "outputs" not in parameters and not isinstance(head, type):
            if settings:
                raise TypeError(f"{sorted(settings)[0]} is no argument of a function without `outputs`")
            return _Function(head, name)
        built = head(outputs, **settings)
    except Exception as error:
        raise failure(name, f"a class or a function that makes a head of {outputs} outputs", error) from error
    if isinstance(built, keras.layers.Layer) and isinstance(head, type):
        return built
    if isinstance(built, keras.layers.Layer) or inspect.isfunction(built):
        return built if isinstance(built, keras.layers.Layer) else _Function(built, name)
    raise KerasBertError(
        f"head {name!r}: expected a layer of tf_keras or a function, received {type(built).__name__}; see kb.register_head"
    )


def _arguments(call: Callable, name: str) -> tuple[bool, bool]:
    """Return whether a head takes the mask, and whether it takes `training`."""
    parameters = inspect.signature(call).parameters
    positional = [each for each in parameters.values() if each.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    places = [each.name for each in positional if each.name != "training"]
    required = [each.name for each in positional if each.default is inspect.Parameter.empty]
    if not places or len(required) > 2:
        raise KerasBertError(
            f"head {name!r}: expected a call with encoded and mask, received one with {', '.join(parameters) or 'nothing'}; "
            "write call(self, encoded, mask)"
        )
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return len(places) > 1, takes_all or "training" in parameters
