"""What a saved model reads and answers, told by its files alone: data are checked before TensorFlow is loaded."""

import os

from kerasbert.checkpoints.hugging_face import read_config, resolve
from kerasbert.cli.common.progress import progress
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.files.model_folder import OWN_FILE
from kerasbert.processors import PROCESSORS, Processor, make_processor
from kerasbert.processors.registry import TASK_NAMES

_HUB_PROBLEMS = {"multi_label_classification": "multi_label", "regression": "regression"}


def processor_of(model: str | os.PathLike) -> Processor | None:
    """The processor of a saved folder, a hub name or a `.tflite` file, with its labels where they are known; None where files do not tell.

    What is wrong with the model is told when it is loaded; here only that there is none. Raises KerasBertError for that.
    """
    from kerasbert.cli.common.models import is_tflite

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
    return _processor(own, config)


def _processor(own: dict, config: dict) -> Processor | None:
    settings = own.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    task = own.get("task") or _task(config)
    if task not in TASK_NAMES:
        return None
    name = (
        TASK_NAMES[task].processor
        or settings.get("problem")
        or _HUB_PROBLEMS.get(config.get("problem_type"), "single_label")
    )
    labels = settings.get("labels") or _hub_labels(config)
    if name not in PROCESSORS or not isinstance(labels, list | None):
        return None
    return make_processor(name, None if name == "regression" or not labels else [str(label) for label in labels])


def _task(config: dict) -> str | None:
    architectures = config.get("architectures")
    architecture = architectures[0] if isinstance(architectures, list) and architectures else ""
    return next((name for name, task in TASK_NAMES.items() if str(architecture).endswith(task.architecture)), None)


def _hub_labels(config: dict) -> list | None:
    names = config.get("id2label")
    try:
        return [name for _, name in sorted(names.items(), key=lambda item: int(item[0]))]
    except (AttributeError, ValueError, TypeError):
        return None
