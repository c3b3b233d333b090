"""Keras' `summary()` for subclassed models, with real output shapes and parameter counts."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.output import write
from kerasbert.console.tables import Table
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.weight_quantizers import WeightFakeQuant

_UNKNOWN = "-"  # the shape of a layer that is not called


def input_spec(rank: int = 2) -> dict[str, tf.TensorSpec]:
    """Specify the inputs of a model, of any size: (batch, length), of rank 3 (batch, choices, length)."""
    return {name: tf.TensorSpec((None,) * rank, tf.int32, name=name) for name in INPUT_NAMES}


def show_summary(
    model: keras.layers.Layer,
    call: Callable,
    inputs: Mapping[str, tf.TensorSpec],
    *,
    line_length: int | None = None,
    print_fn: Callable[[str], None] | None = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: Sequence[str] | None = None,
) -> None:
    """Print name, class, output shape and number of parameters of each layer, and totals.

    Args:
        model: the model; its layers are shown under the names of their attributes.
        call: a function that is traced once, to record the output shapes.
        inputs: the inputs of that function.
        line_length: the width in cells; by default the terminal's.
        print_fn: called with each line, instead of printing.
        expand_nested: also show the layers inside of layers.
        show_trainable: add a column that tells whether all weights of a layer are trained, some or none.
        layer_range: the first and the last layer to show: names, or regular expressions for them.
    """
    rows = list(_rows(model, _output_shapes(model, call, inputs), expand_nested, set()))
    columns = ["Layer (type)", "Output Shape", "Param #", *(["Trainable"] if show_trainable else [])]
    table = Table(columns, [row[: len(columns)] for row in _chosen(rows, layer_range)])
    totals = {
        "Total params": model.weights, "Trainable params": model.trainable_weights,
        "Non-trainable params": model.non_trainable_weights,
    }  # fmt: skip
    blocks = [
        f'Model: "{model.name}"',
        "",
        table,
        "",
        *(f"{name}: {_amount(weights)}" for name, weights in totals.items()),
    ]
    if print_fn is None and line_length is None:
        write(blocks)
        return
    from kerasbert.console.tables import render

    for line in render(blocks, line_length).split("\n"):
        (print_fn or write)(line)


def _rows(
    layer: keras.layers.Layer, shapes: Mapping[int, str], nested: bool, quantizers: set[int], indent: str = ""
) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each layer. `quantizers` holds those that have a row already: a layer and the layers in it may share one."""
    counted: set[int] = set()  # a variable that two layers share counts once
    for name, child in _children(layer):
        own = {id(variable): variable for variable in child.weights if id(variable) not in counted}
        counted |= own.keys()
        if isinstance(child, ActivationFakeQuant | WeightFakeQuant):
            if not own or id(child) in quantizers:
                continue
            quantizers.add(id(child))
        trained = {id(variable) for variable in child.trainable_weights}
        shares = {key in trained for key in own}
        trainable = "-" if not own else "partly" if len(shares) == 2 else "yes" if shares == {True} else "no"
        shape = shapes.get(id(child), _UNKNOWN)
        yield f"{indent}{name} ({type(child).__name__})", shape, f"{_count(own.values()):,}", trainable
        if nested:
            yield from _rows(child, shapes, nested, quantizers, indent + "  ")


def _children(layer: keras.layers.Layer) -> list[tuple[str, keras.layers.Layer]]:
    """Return the layers right below, under the names of their attributes, such as `layers.0`."""
    children: dict[int, tuple[str, keras.layers.Layer]] = {}
    for name, value in vars(layer).items():
        many = isinstance(value, list | tuple)
        for i, item in enumerate(value) if many else [(0, value)]:
            if isinstance(item, keras.layers.Layer) and not name.startswith("_"):
                children.setdefault(id(item), (f"{name}.{i}" if many else name, item))
    for item in layer._flatten_layers(recursive=False, include_self=False):
        if not isinstance(item, keras.metrics.Metric):
            children.setdefault(id(item), (item.name, item))
    return list(children.values())


def _output_shapes(model: keras.layers.Layer, call: Callable, inputs: Mapping[str, tf.TensorSpec]) -> dict[int, str]:
    """Record the output shapes of each layer in its first call, by the layer's id."""
    shapes: dict[int, str] = {}
    with ExitStack() as watched:
        for layer in model._flatten_layers(include_self=False):
            watched.enter_context(_watched(layer, shapes))
        tf.function(call, autograph=False).get_concrete_function(dict(inputs))
    return shapes


@contextmanager
def _watched(layer: keras.layers.Layer, shapes: dict[int, str]) -> Iterator[None]:
    inner = layer.call

    @tf.autograph.experimental.do_not_convert
    def call(*args: Any, **kwargs: Any) -> Any:
        outputs = inner(*args, **kwargs)
        shapes.setdefault(id(layer), _shape(outputs))
        return outputs

    object.__setattr__(layer, "call", call)
    try:
        yield
    finally:
        object.__delattr__(layer, "call")


def _shape(outputs: Any) -> str:
    tensors = [value for value in tf.nest.flatten(outputs) if tf.is_tensor(value)]
    shapes = [str(tuple(tensor.shape)) if tensor.shape.rank is not None else _UNKNOWN for tensor in tensors]
    return ", ".join(dict.fromkeys(shapes)) or _UNKNOWN


def _chosen(rows: list[tuple], layer_range: Sequence[str] | None) -> list[tuple]:
    if layer_range is None:
        return rows
    first, last = layer_range
    names = [row[0].strip().partition(" ")[0] for row in rows]
    begin = next((i for i, name in enumerate(names) if re.match(first, name)), 0)
    ends = [i for i, name in enumerate(names) if re.match(last, name)]
    return rows[begin : ends[-1] + 1 if ends else len(rows)]


def _amount(weights: Sequence[tf.Variable]) -> str:
    """Format a number of parameters with their size: `1,652,482 (6.30 MB)`, of 1,024 kB as Keras counts."""
    size = sum(variable.shape.num_elements() * variable.dtype.size for variable in weights)
    unit = "B"
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= 1024
    return f"{_count(weights):,} ({size:.2f} {unit})"


def _count(weights: Iterable[tf.Variable]) -> int:
    return sum(int(variable.shape.num_elements()) for variable in weights)
