"""Checks of a user's head before anything is trained: what it reads and returns, and that a graph can hold all it does."""

import inspect
import types
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.console.strictness import note_once
from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.errors import KerasBertError
from kerasbert.heads.exportable import missing_operator
from kerasbert.heads.tracked import tracked_layers

_ROWS, _LENGTH, _SHORT = 2, 7, 4  # of the example that a head is called on; the second row is padded
_PLAIN = (bool, int, float, str, bytes, type(None), np.ndarray, list, tuple, dict, set)


@dataclass(frozen=True)
class Findings:
    """What a head reads, and what its output depends on.

    Attributes:
        reads: Names of the encoder's outputs: `sequence`, `pooled`, `hidden_states.3`, `attentions.0`, `mask`.
        dense_calls: Path of each Dense layer of Keras on which the output depends -> the number of its calls.
    """

    reads: frozenset[str] = frozenset()
    dense_calls: Mapping[str, int] = field(default_factory=dict)

    @property
    def unread_layers(self) -> int | None:
        """The number of the first block that no output depends on; None if all are read."""
        if {"sequence", "pooled"} & self.reads:
            return None
        places = {name.partition(".")[::2] for name in self.reads}
        return max(
            (int(place) + (kind == "attentions") for kind, place in places if kind in ("hidden_states", "attentions")),
            default=0,
        )


def failure(name: str, expected: str, error: BaseException, advice: str = "correct the head") -> KerasBertError:
    """Return the error of a head whose code has failed."""
    # Keras puts a line with the layer before the message.
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("Exception enc")]
    received = f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
    return KerasBertError(f"head {name!r}: expected {expected}, received {received}; {advice}")


def findings(
    head: Callable,
    layer: keras.layers.Layer,
    name: str,
    encoder: Encoder,
    shape: tuple[int | None, ...],
    known: Findings | None = None,
) -> Findings:
    """Call a head on random outputs of its encoder, which makes its weights, and check it.

    Args:
        head: Called with the encoder's output, the mask and `training`.
        layer: The layer with its weights.
        name: The head's name, for messages.
        encoder: The encoder, whose sizes the example has.
        shape: The shape of its output; None for the batch and the length.
        known: The findings of the same head on an encoder of the same sizes: a copy needs no further check.

    Raises:
        KerasBertError: When the head fails, returns another shape, changes a state of Python, or cannot be a part of a graph.
    """
    encoded, mask = _example(encoder)
    places = f"{len(encoded.hidden_states or ())} hidden states and {len(encoded.attentions or ())} attentions"
    pooled = "" if encoded.pooled is not None else " and no pooled vector"
    advice = f"this encoder has {places}{pooled}; correct the head"
    try:
        first = head(encoded, mask, training=False)
    except Exception as error:
        if isinstance(error, KerasBertError):
            raise
        raise failure(name, "a head that can be called on the encoder's outputs", error, advice) from error
    _check_output(first, name, shape)
    if known is not None:
        return known
    before = _state(layer)
    second = head(encoded, mask, training=False)
    if (changed := _changed(before, _state(layer))) or not _same(first, second):
        raise KerasBertError(
            f"head {name!r}: expected a call without side effects, received "
            + (f"one that changes {changed}" if changed else "another output on the same input")
            + "; a graph does the Python part once: keep state in weights, and randomness in layers such as Dropout"
        )
    found = _traced(head, layer, name, encoded, mask, first)
    _check_other_sizes(head, name, encoded, mask, first, per_token=len(shape) == 3)
    return found


def _example(encoder: Encoder) -> tuple[EncoderOutput, tf.Tensor]:
    """Return random outputs of an encoder for two rows, the second one padded."""
    random, blocks = np.random.default_rng(0), list(encoder.stack())
    hidden = encoder.config.hidden_size

    def draw(*shape: int) -> tf.Tensor:
        return tf.constant(random.normal(size=shape), tf.float32)

    states = tuple(draw(_ROWS, _LENGTH, hidden) for _ in range(len(blocks) + 1))
    heads = [block.attention.heads for block in blocks]
    attentions = tuple(tf.nn.softmax(draw(_ROWS, count, _LENGTH, _LENGTH)) for count in heads)
    mask = tf.constant([[True] * _LENGTH, [True] * _SHORT + [False] * (_LENGTH - _SHORT)])
    pooled = draw(_ROWS, hidden) if encoder.pools else None
    return EncoderOutput(draw(_ROWS, _LENGTH, hidden), pooled, states, attentions), mask


def _check_output(output: Any, name: str, shape: tuple[int | None, ...]) -> None:
    expected = tuple(size for size in ((_ROWS, *shape[1:]) if len(shape) == 2 else (_ROWS, _LENGTH, shape[2])))
    shown = "(batch, outputs)" if len(shape) == 2 else "(batch, length, outputs)"
    received = None
    if not isinstance(output, tf.Tensor):
        received = f"a {type(output).__name__}"
    elif tuple(output.shape) != expected:
        received = f"one of shape {tuple(output.shape)}"
    elif not output.dtype.is_floating:
        received = f"one of {output.dtype.name}"
    if received:
        raise KerasBertError(
            f"head {name!r}: expected a dense tensor of floats {shown}, here {expected}, received {received}; correct the head"
        )


def _same(first: tf.Tensor, second: tf.Tensor, tolerance: float = 1e-4) -> bool:
    difference = tf.reduce_max(tf.abs(tf.cast(first, tf.float32) - tf.cast(second, tf.float32)))
    return bool(difference <= tolerance * (1 + tf.reduce_max(tf.abs(tf.cast(first, tf.float32)))))


def _state(layer: keras.layers.Layer) -> dict[str, str]:
    """Return the plain Python values that a head's own code could change, as texts by name."""
    values: dict[str, Any] = {}
    known = vars(keras.layers.Layer())
    for each in layer._flatten_layers():
        function = getattr(each, "_function", None) or type(each).call
        if not _is_of_a_library(type(each)):
            own = {name: value for name, value in vars(each).items() if name not in known}
            values |= {f"self.{name}": value for name, value in own.items()}
        if isinstance(function, types.FunctionType) and not _is_of_a_library(function):
            used = inspect.getclosurevars(function)
            values |= {**used.globals, **used.nonlocals}
    return {name: repr(value)[:10_000] for name, value in values.items() if isinstance(value, _PLAIN)}


def _is_of_a_library(code: Any) -> bool:
    return (code.__module__ or "").partition(".")[0] in ("tf_keras", "keras", "kerasbert")


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    return next((name for name in sorted({*before, *after}) if before.get(name) != after.get(name)), "")


def _traced(
    head: Callable, layer: keras.layers.Layer, name: str, encoded: EncoderOutput, mask: tf.Tensor, expected: tf.Tensor
) -> Findings:
    """Trace a head, and find what its output depends on."""
    inputs = {
        "sequence": encoded.sequence, "pooled": encoded.pooled, "mask": mask,
        **{f"hidden_states.{i}": each for i, each in enumerate(encoded.hidden_states or ())},
        **{f"attentions.{i}": each for i, each in enumerate(encoded.attentions or ())},
    }  # fmt: skip
    inputs = {key: value for key, value in inputs.items() if value is not None}

    def call(tensors: dict[str, tf.Tensor]) -> tf.Tensor:
        states = tuple(tensors[f"hidden_states.{i}"] for i in range(len(encoded.hidden_states or ())))
        attentions = tuple(tensors[f"attentions.{i}"] for i in range(len(encoded.attentions or ())))
        output = EncoderOutput(tensors["sequence"], tensors.get("pooled"), states, attentions)
        return head(output, tensors["mask"], training=False)

    specs = {key: tf.TensorSpec(_any_size(key, value.shape), value.dtype) for key, value in inputs.items()}
    try:
        concrete = tf.function(call, autograph=False).get_concrete_function(specs)
        traced = concrete(inputs)
    except Exception as error:
        raise failure(
            name, "a call of TensorFlow's operators alone, which a graph can hold", error,
            "use tf functions in place of NumPy, and no `if` on values of tensors",
        ) from error  # fmt: skip
    if not _same(traced, expected):
        raise KerasBertError(
            f"head {name!r}: expected a call that a graph repeats, received other outputs of its graph; use TensorFlow's operators, and "
            "shapes by tf.shape"
        )
    owned = {id(variable.handle) for variable in layer.variables}
    if strangers := [variable.name for variable in concrete.variables if id(variable.handle) not in owned]:
        raise KerasBertError(
            f"head {name!r}: expected weights that its class or function makes, received {strangers[0]!r} from outside, which copies of "
            "the model would share; make it in a function of `outputs`"
        )
    if operator := missing_operator(call, inputs, concrete, layer):
        raise KerasBertError(
            f"head {name!r}: expected operators that a .tflite file has, received {operator}; use others, or compute it before the model"
        )
    return _reached(concrete, sorted(specs), layer)


def _any_size(name: str, shape: tf.TensorShape) -> list[int | None]:
    """Return the shape of an input for a batch and a length of any size."""
    batch, *sizes = shape
    if name == "pooled":
        return [None, *sizes]
    return [None, sizes[0], None, None] if name.startswith("attentions") else [None, None, *sizes[1:]]


def reached(concrete: Any) -> tuple[set[Any], list[Any]]:
    """Walk from the outputs of a traced function back to what they depend on.

    Args:
        concrete: The function, as `get_concrete_function` returns it.

    Returns:
        The operations, and the handle of a variable for each time that it is read.
    """
    seen, waiting = set(), [output.op for output in concrete.outputs]
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting += [tensor.op for tensor in operation.inputs]
    captured = {id(inside): outside for outside, inside in concrete.graph.captures}
    inputs = (tensor for operation in seen if operation.type == "ReadVariableOp" for tensor in operation.inputs)
    return seen, [captured[id(tensor)] for tensor in inputs if id(tensor) in captured]


def _reached(concrete: Any, names: list[str], layer: keras.layers.Layer) -> Findings:
    operations, handles = reached(concrete)
    reads = {name for name, tensor in zip(names, concrete.inputs, strict=False) if tensor.op in operations}
    readers = Counter(map(id, handles))
    calls = {
        path: readers[id(dense.kernel.handle)]
        for path, dense in tracked_layers(layer)
        if type(dense) is keras.layers.Dense and id(dense.kernel.handle) in readers
    }
    return Findings(frozenset(reads), calls)


def _check_other_sizes(
    head: Callable, name: str, encoded: EncoderOutput, mask: tf.Tensor, padded: tf.Tensor, per_token: bool
) -> None:
    """Call a head on one row without its padding, and print a note if its outputs depend on that.

    A file pads all texts to its length, and training those of a batch to the longest.
    """
    short = EncoderOutput(
        encoded.sequence[1:, :_SHORT],
        None if encoded.pooled is None else encoded.pooled[1:],
        tuple(each[1:, :_SHORT] for each in encoded.hidden_states or ()),
        tuple(each[1:, :, :_SHORT, :_SHORT] for each in encoded.attentions or ()),
    )
    expected = padded[1:, :_SHORT] if per_token else padded[1:]
    try:
        alone = head(short, mask[1:, :_SHORT], training=False)
        if alone.shape != expected.shape:
            raise ValueError(f"shape {tuple(alone.shape)} for one row of {_SHORT} tokens")
    except Exception as error:
        raise failure(
            name, "a head for any number of rows and tokens", error, "take sizes from tf.shape, and no fixed token"
        ) from error
    if not _same(alone, expected):
        note_once(
            f"note: head {name!r}: its outputs depend on padding, which a file has more of than training; use the mask to leave it out"
        )
