"""Frozen parts of a task: their weights stay, and no gradients are computed for them.

Keras' `trainable` marks them, and `compile` reads it: a later change counts from the next `compile` on. Nothing else changes: dropout
stays on in frozen parts, and saving, quantizing and converting include all weights.
"""

from collections.abc import Iterable
from typing import Any

import tf_keras as keras

from kerasbert.arguments import check_whole_number, shown
from kerasbert.errors import KerasBertError
from kerasbert.optimizers.parameter_groups import depths, group_names, parts_named, unknown_part
from kerasbert.tasks.base import Task


def freeze(task: Task, *parts: str) -> None:
    """Freeze parts of a task, before `compile`.

    Freezing the `encoder` is the feature-based approach of Devlin et al. 2018, section 5.3.

    Args:
        task: The task.
        parts: `encoder` (embeddings and layers), `embeddings`, `layers.0`, `layers.-1` (the top one), `layers.*`, `layer_mix`, `pooler`,
            `exits` or `head`.

    Raises:
        KerasBertError: When the task does not have a part, or none is named. For single variables see `kb.adamw(rates={pattern: 0})`.

    Example:
        ```python
        from kerasbert.training import freeze
        freeze(task, "embeddings", "layers.0")
        task.compile(optimizer=kb.adamw(5e-4))
        ```
    """
    if not parts:
        raise KerasBertError(
            f"expected the parts to freeze ({', '.join(['encoder', *group_names(_checked(task))])}), received none; name one or several"
        )
    _set_trainable(task, parts, False)


def unfreeze(task: Task, *parts: str) -> None:
    """Train parts again, by default all, before `compile`.

    Args:
        task: The task.
        parts: See `freeze`.

    Raises:
        KerasBertError: When the task does not have a part.

    Example:
        ```python
        from kerasbert.training import freeze, unfreeze
        freeze(task, "encoder")
        unfreeze(task, "layers.-1")  # the top layer and the head are trained
        task.compile(optimizer=kb.adamw(5e-4))
        ```
    """
    _set_trainable(task, parts or ("*",), True)


def train_only(task: Task, top: int) -> None:
    """Train only the top layers and the parts above them (layer mix, pooler and head), before `compile`.

    Args:
        task: The task.
        top: Number of layers to train.

    Raises:
        KerasBertError: When the encoder has fewer layers, or its layers share their weights.

    Example:
        ```python
        from kerasbert.training import train_only
        train_only(task, top=1)
        task.compile(optimizer=kb.adamw(5e-4))
        ```
    """
    layers, top = len(_checked(task).encoder.layers), check_whole_number(top, "top layers to train", least=0)
    if top and depths(task, "train_only") and not 0 < top <= layers:
        raise KerasBertError(f"expected from 0 to {layers} layers to train from the top, received {top}")
    unfreeze(task)
    freeze(task, "embeddings", *(f"layers.{i}" for i in range(layers - top)))


def _set_trainable(task: Task, names: Iterable[str], trainable: bool) -> None:
    parts = []
    for name in names:
        if not isinstance(name, str):
            raise KerasBertError(f"expected the name of a part, such as 'encoder', received {shown(name)}; pass a text")
        named = parts_named(_checked(task), name)
        if not named:
            raise unknown_part(task, name)
        parts += named
    if trainable:
        task._trainable = task.encoder._trainable = True  # a frozen layer hides trained layers inside it
    for part in parts:
        for layer in _layers(task, part):
            layer.trainable = trainable


def _checked(task: Any) -> Task:
    if not hasattr(task, "variables_by_path") or not hasattr(task, "encoder") or isinstance(task, type):
        raise KerasBertError(f"expected a task, such as that of kb.load_task, received {shown(task)}; pass it first")
    return task


def _layers(task: Task, part: str) -> list[keras.layers.Layer]:
    exits = getattr(task, "exits", None)
    if part == "exits" and exits is not None:
        return [exits]
    if part == "head":
        return [layer for layer in task.layers if layer is not task.encoder and layer is not exits]
    if part.startswith("layers."):
        return [task.encoder.layers[int(part.removeprefix("layers."))]]
    return [getattr(task.encoder, part)]
