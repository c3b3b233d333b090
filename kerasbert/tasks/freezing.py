"""Parts of a task that are not trained: they keep their weights, and no gradients are computed for them.

Keras' `trainable` says so, and `compile` reads it: what is frozen or unfrozen later counts from the next `compile` on. Nothing else
changes: dropout goes on in what is frozen, and saving, quantizing and converting see all weights.
"""

from collections.abc import Iterable

import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.traversal import sublayers
from kerasbert.optimizers.parameter_groups import depths, parts_named, unknown_part


def freeze(task, *parts: str) -> None:
    """Leaves parts as they are: `encoder` (embeddings and layers: the feature-based way of Devlin et al. 2018, section 5.3), `embeddings`,
    `layers.0`, `layers.-1` (the top one), `layers.*`, `layer_mix`, `pooler`, `head`. To be called before `compile`.

    Raises KerasBertError for a part that the task does not have; single variables stand still with `kb.adamw(rates={pattern: 0})`.
    """
    _set(task, parts, False)


def unfreeze(task, *parts: str) -> None:
    """Trains parts again, by default all. To be called before `compile`."""
    _set(task, parts or ("*",), True)


def train_only(task, top: int) -> None:
    """Trains so many layers from the top, and what is above them: mix of layers, pooler and head. To be called before `compile`.

    Raises KerasBertError for more layers than there are, and for some of them where they share their weights.
    """
    layers = len(task.encoder.layers)
    if top and depths(task, "train_only") and not 0 < top <= layers:
        raise KerasBertError(f"expected from 0 to {layers} layers to train from the top, received {top}")
    unfreeze(task)
    freeze(task, "embeddings", *(f"layers.{i}" for i in range(layers - top)))


def frozen_paths(task) -> list[str]:
    """The variables that are not trained, by path."""
    trained = {id(variable) for variable in task.trainable_variables}
    return [path for path, variable in task.variables_by_path().items() if id(variable) not in trained]


def freeze_paths(task, paths: Iterable[str]) -> None:
    """Freezes what `frozen_paths` gave for an equal task, layer by layer."""
    variables = task.variables_by_path()
    frozen = {id(variables[path]) for path in paths if path in variables}
    for layer in sublayers(task, keras.layers.Layer):
        # Not by the setter, which would reach the layers below: norms beside adapters are trained.
        if any(id(variable) in frozen for variable in layer._trainable_weights):
            layer._trainable = False


def _set(task, names: Iterable[str], trainable: bool) -> None:
    parts = []
    for name in names:
        found = parts_named(task, name)
        if not found:
            raise unknown_part(task, name)
        parts += found
    if trainable:
        task._trainable = task.encoder._trainable = True  # a frozen layer hides the trained ones below it
    for part in parts:
        for layer in _layers(task, part):
            layer.trainable = trainable


def _layers(task, part: str) -> list[keras.layers.Layer]:
    if part == "head":
        return [layer for layer in task.layers if layer is not task.encoder]
    if part.startswith("layers."):
        return [task.encoder.layers[int(part.removeprefix("layers."))]]
    return [getattr(task.encoder, part)]
