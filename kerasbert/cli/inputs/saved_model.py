"""The processor of a saved model, read from its files. Commands check data with it before they load TensorFlow."""

import os
from typing import Any

from kerasbert.checkpoints.cross_encoder import problem_of
from kerasbert.checkpoints.heads import named_class
from kerasbert.checkpoints.hugging_face import label_names, read_config, resolve
from kerasbert.cli.process.progress import progress
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.files.model_folder import OWN_FILE
from kerasbert.processors import PROCESSORS, Processor, make_processor
from kerasbert.processors.registry import TASK_NAMES
from kerasbert.processors.requested import requested_task


def read_processor(model: str | os.PathLike) -> Processor | None:
    """Read the processor of a model without loading the model. Damaged files are reported later, when the model is loaded.

    Args:
        model: A `.tflite` file, a saved folder or a hub name.

    Returns:
        The processor, with its labels if the files contain them; None if the files do not determine it.

    Raises:
        KerasBertError: When there is no such model.
    """
    from kerasbert.export.tflite.file_kind import is_tflite

    if is_tflite(os.fspath(model)):
        from kerasbert.export.tflite import metadata

        try:
            card = metadata.read(model)
            return card.processor if card else None
        except KerasBertError:
            return None
    if os.path.isdir(model):
        folder = resolve(model)
    else:
        with progress("finding the model"):
            folder = resolve(model)
    try:
        own = read_json_object(folder / OWN_FILE) if (folder / OWN_FILE).is_file() else {}
        config = read_config(folder)
    except KerasBertError:
        return None
    return _make_processor(own, config)


def _make_processor(own: dict[str, Any], config: dict[str, Any]) -> Processor | None:
    settings = own.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    requested = requested_task()
    task = requested.name if requested else own.get("task") or _task_name(config)
    if task not in TASK_NAMES or not TASK_NAMES[task].commands:
        return None
    hub_problem = problem_of(config) or "single_label"
    name = (requested and requested.processor) or TASK_NAMES[task].processor or settings.get("problem") or hub_problem
    labels = settings.get("labels") or _hub_labels(config)
    if name not in PROCESSORS or not isinstance(labels, list | None):
        return None
    given = {key: settings[key] for key in ("heads", "fallback", "fallback_below") if key in settings}
    names = None if name == "regression" or not labels else [str(label) for label in labels]
    return make_processor(name, names, given)


def _task_name(config: dict[str, Any]) -> str | None:
    try:
        ending = named_class(config).ending
    except KerasBertError:
        return None
    return next((name for name, task in TASK_NAMES.items() if task.architecture == ending), None)


def _hub_labels(config: dict[str, Any]) -> list | None:
    try:
        return label_names(config)
    except KerasBertError:
        return None
