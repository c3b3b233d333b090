"""Layers and weights of a user's head by path, as Keras tracks them: attributes, lists, dicts, and the layers of a Sequential."""

from collections.abc import Iterator
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.weight_quantizers import WeightFakeQuant


def tracked_layers(layer: keras.layers.Layer) -> list[tuple[str, keras.layers.Layer]]:
    """Return a head's layers by path, each once, itself first under an empty path; without fake quantizers."""
    return [(path, each) for path, each in _tracked(layer, "", set()) if isinstance(each, keras.layers.Layer)]


def tracked_variables(layer: keras.layers.Layer) -> dict[str, tf.Variable]:
    """Return a head's weights by path, also averages that no gradient trains; without those of fake quantizers."""
    return {
        path: each
        for path, each in _tracked(layer, "", set())
        if isinstance(each, tf.Variable) and each.dtype.is_floating
    }


def _tracked(item: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if id(item) in seen or isinstance(item, ActivationFakeQuant | WeightFakeQuant):
        return
    seen.add(id(item))
    yield path, item
    if not isinstance(item, tf.Variable) and hasattr(item, "_trackable_children"):
        for name, child in item._trackable_children().items():
            yield from _tracked(child, f"{path}.{name}" if path else name, seen)
