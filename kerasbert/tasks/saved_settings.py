"""The settings of a task in a saved folder: labels, length and quantization policy, checked."""

import inspect
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.checkpoints.name_tables import head_bias_name
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import OWN_FILE
from kerasbert.layers.quantization.policy import QuantizationPolicy

if TYPE_CHECKING:
    import numpy as np

    from kerasbert.tasks.base import Task


def own_settings(own: Mapping[str, Any], task_class: "type[Task]", folder: Path) -> dict[str, Any]:
    """Return the constructor arguments in kerasbert.json; of a folder of another task, the length only.

    Raises:
        KerasBertError: When the task does not have such a setting, or the length is not a whole number.
    """
    settings = own.get("settings", {})
    if own.get("task") != task_class.__name__:
        settings = {name: value for name, value in settings.items() if name == "sequence_length"}
    parameters = inspect.signature(task_class.__init__).parameters
    if unknown := sorted(settings.keys() - parameters.keys()):
        raise KerasBertError(
            f"{folder / OWN_FILE}: expected settings of {task_class.__name__}, received {unknown[0]!r}; remove it"
        )
    length = settings.get("sequence_length", 3)
    if not isinstance(length, int) or isinstance(length, bool):
        raise KerasBertError(
            f"{folder / OWN_FILE}: expected sequence_length as a whole number, received {length!r}; correct it"
        )
    return settings


def numbered_labels(
    task_class: "type[Task]", config: Mapping[str, Any], tensors: "Mapping[str, np.ndarray]"
) -> dict[str, Any]:
    """Return labels LABEL_0, LABEL_1, ... for a checkpoint with a head of classes that does not name them, as Hugging Face does."""
    architecture = (config.get("architectures") or [""])[0]
    if "id2label" in config or not task_class.labelled or not architecture.endswith(task_class.architecture):
        return {}
    bias = tensors.get(head_bias_name(config["model_type"], task_class.heads[0]))
    return {} if bias is None else {"labels": [f"LABEL_{i}" for i in range(len(bias))]}


def saved_policy(own: Mapping[str, Any], folder: Path) -> QuantizationPolicy | None:
    """Return the quantization policy in kerasbert.json, if there is one.

    Raises:
        KerasBertError: When it is not a policy.
    """
    if not own.get("quantization"):
        return None
    try:
        return QuantizationPolicy.from_config(own["quantization"])
    except (TypeError, ValueError) as error:
        raise KerasBertError(
            f"{folder / OWN_FILE}: expected a quantization policy, received one with {error}; quantize the model again"
        ) from error


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
    if unknown := sorted(saved.keys() - {"adapters", "layer_mix", "cut"}):
        raise KerasBertError(
            f"{source}: {OWN_FILE}: expected options of an encoder, received {unknown[0]!r}; remove it"
        )
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


def check_as_many_labels(labels: Sequence[str] | None, saved: Sequence[str] | None, folder: Path) -> None:
    """Check that the checkpoint's head has as many outputs as there are labels.

    Raises:
        KerasBertError: When it has more or fewer.
    """
    if labels and saved and len(labels) != len(saved):
        raise KerasBertError(
            f"expected a model of {len(labels)} labels ({_first_three(labels)}), received {folder} with a head of {len(saved)} "
            f"({_first_three(saved)}); start from the checkpoint that it was trained from, which has no head yet"
        )


def _first_three(labels: Sequence[str]) -> str:
    return ", ".join(map(str, labels[:3])) + (", ..." if len(labels) > 3 else "")
