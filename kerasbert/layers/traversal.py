"""Layers and variables below a layer."""

from typing import TypeVar

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.dense import Dense

L = TypeVar("L", bound=keras.layers.Layer)


def sublayers(layer: keras.layers.Layer, kind: type[L] | tuple[type[L], ...]) -> list[L]:
    """Return every layer of a class below `layer`, in the order in which they were made."""
    return [item for item in layer._flatten_layers(include_self=False) if isinstance(item, kind)]


def dense_layers(model: keras.layers.Layer) -> list[Dense]:
    """Return every Dense layer of a model."""
    return sublayers(model, Dense)


def named_variables(
    layer: keras.layers.Layer, prefix: str = "", seen: set[int] | None = None
) -> dict[str, tf.Variable]:
    """Return the variables of a layer and of the layers below it, by attribute path such as `layers.0.attention.query.kernel`.

    Args:
        layer: the top layer.
        prefix: the start of every path.
        seen: ids of layers and variables to leave out; it is extended.
    """
    seen = set() if seen is None else seen
    variables: dict[str, tf.Variable] = {}
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        items = enumerate(value) if isinstance(value, list | tuple) else [(None, value)]
        for index, item in items:
            path = f"{prefix}{name}" if index is None else f"{prefix}{name}.{index}"
            if id(item) in seen:
                continue
            if isinstance(item, tf.Variable):
                seen.add(id(item))
                variables[path] = item
            elif isinstance(item, keras.layers.Layer):
                seen.add(id(item))
                if hasattr(item, "own_variables"):  # a user's head, whose attributes may be anything
                    variables |= {f"{path}.{below}": variable for below, variable in item.own_variables().items()}
                    continue
                variables |= named_variables(item, f"{path}.", seen)
    return variables
