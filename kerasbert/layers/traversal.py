"""Layers and variables below a layer."""

import tensorflow as tf
import tf_keras as keras


def sublayers(layer: keras.layers.Layer, kind: type | tuple[type, ...]) -> list:
    """Every layer of that class below `layer`, in the order in which it was made."""
    return [item for item in layer._flatten_layers(include_self=False) if isinstance(item, kind)]


def named_variables(layer: keras.layers.Layer, prefix: str = "", seen: set | None = None) -> dict[str, tf.Variable]:
    """Variables of a layer and of the layers below it, by attribute path such as `layers.0.attention.query.kernel`."""
    seen = set() if seen is None else seen
    found = {}
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
                found[path] = item
            elif isinstance(item, keras.layers.Layer):
                seen.add(id(item))
                found |= named_variables(item, f"{path}.", seen)
    return found
