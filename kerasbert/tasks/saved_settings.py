"""The settings of a task in a saved folder: labels, length and quantization policy, checked."""

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.checkpoints.heads import label_rows
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import OWN_FILE
from kerasbert.files.record import Record, check_names, setting
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.suggestions import nearest
from kerasbert.tasks.saving import SavedTask


def own_settings(own: Mapping[str, Any], task_class: type[SavedTask], folder: Path) -> dict[str, Any]:
    """Return the constructor arguments in kerasbert.json; of a folder of another task, the length only.

    Raises:
        KerasBertError: When the task does not have such a setting, or the length is not a whole number.
    """
    settings = own.get("settings", {})
    if own.get("task") != task_class.__name__:
        settings = {name: value for name, value in settings.items() if name == "sequence_length"}
    check_names(settings, inspect.signature(task_class.__init__).parameters, f"{folder / OWN_FILE}, settings")
    _SavedLength.given({name: settings[name] for name in settings if name == "sequence_length"}, folder / OWN_FILE)
    return settings


@dataclass(frozen=True)
class _SavedLength(Record):
    sequence_length: int = 3


@dataclass(frozen=True)
class _EncoderOptions(Record):
    """The options of an encoder in kerasbert.json."""

    adapters: int | None = setting(None, at_least=1)
    layer_mix: bool = False
    cut: dict | None = None
    ranks: dict | None = None


def numbered_labels(task_class: type[SavedTask], model_type: str, tensors: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return labels LABEL_0, LABEL_1, ... for a head of classes that config.json does not name, as transformers does."""
    if not task_class.labelled:
        return {}
    bias = [
        tensors[name]
        for name in label_rows(model_type, task_class.heads[0])
        if name.endswith("bias") and name in tensors
    ]
    return {"labels": [f"LABEL_{i}" for i in range(len(bias[0]))]} if bias and bias[0].ndim else {}


def saved_policy(own: Mapping[str, Any], folder: Path) -> QuantizationPolicy | None:
    """Return the quantization policy in kerasbert.json, if there is one.

    Raises:
        KerasBertError: When it is not a policy.
    """
    if not own.get("quantization"):
        return None
    return QuantizationPolicy.from_dict(own["quantization"], f"{folder / OWN_FILE}, quantization")


def encoder_options(saved: Mapping[str, Any], requested: Mapping[str, Any], source: object) -> dict[str, Any]:
    """Merge the encoder's options of kerasbert.json with those of a call.

    Args:
        saved: The options in kerasbert.json.
        requested: The options of the call; None is no option.
        source: The checkpoint, for messages.

    Raises:
        KerasBertError: When a saved option is unknown, or differs from the call's.
    """
    options = {name: value for name, value in requested.items() if value is not None}
    saved = _EncoderOptions.given(saved, f"{source}: {OWN_FILE}, encoder")
    for name in options.keys() & saved.keys():
        if options[name] != saved[name]:
            raise KerasBertError(
                f"{source}: expected {name}={saved[name]}, as it was saved, received {options[name]!r}; leave it out"
            )
    return {**saved, **options}


def check_same_labels(hub: Collection[str] | None, own: Any, folder: Path) -> None:
    """Check that config.json and kerasbert.json, which are written together, have the same labels.

    Raises:
        KerasBertError: When they differ.
    """
    if hub is not None and isinstance(own, list) and list(hub) != own:
        raise KerasBertError(
            f"{folder}: expected the same labels in config.json and {OWN_FILE}, received {', '.join(map(str, hub))[:99]} and "
            f"{', '.join(map(str, own))[:99]}; one was edited: change both"
        )


_KERAS_ARGUMENTS = {"name", "trainable", "dtype"}


def check_arguments(task_class: type[SavedTask], names: Collection[str]) -> None:
    """Check the names of the arguments that a call has beside those of `Task.from_pretrained`.

    Raises:
        KerasBertError: When the task has no such argument; the message names ours where there is one.
    """
    parameters = inspect.signature(task_class.__init__).parameters.keys() - {"self", "encoder", "tokenizer", "kwargs"}
    for name in sorted(set(names) - parameters - _KERAS_ARGUMENTS):
        other = nearest(name, sorted({*parameters, "new_head"}))
        raise KerasBertError(
            f"expected arguments of {task_class.__name__} ({', '.join(sorted(parameters))}), received {name}=; "
            + (f"write {other}= instead" if other else "leave it out")
        )
