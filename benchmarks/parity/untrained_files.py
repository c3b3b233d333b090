"""Files of tasks for which the zoo has none."""

from pathlib import Path
from typing import Any


def untrained_files(folder: Path, encoder: str) -> dict[str, Path]:
    """Convert an encoder with heads of random weights, which is enough to compare two programs that run one file.

    Args:
        folder: The folder of the files.
        encoder: A folder, or a name in the zoo.

    Returns:
        The files by the name of their task type.
    """
    import tf_keras as keras

    import kerasbert as kb

    keras.utils.set_random_seed(0)
    labels = ("calm", "glad", "sad", "tense")
    tasks: dict[str, tuple[type, dict[str, Any], dict[str, Any]]] = {
        "single_label": (
            kb.TextClassifier,
            {"labels": ("different", "same")},
            {"length": [32, 64, 128], "recipe": "float32"},
        ),
        "multi_label": (
            kb.TextClassifier,
            {"labels": labels, "problem": "multi_label"},
            {"length": 64, "recipe": "float32"},
        ),
        "regression": (kb.TextClassifier, {"problem": "regression"}, {"length": "resizable"}),
        "question_answering": (kb.QuestionAnswerer, {}, {"length": [64, 128], "recipe": "float32"}),
        "multiple_choice": (kb.MultipleChoice, {}, {"length": [32, 64]}),
        "masked_lm": (kb.MaskedLM, {}, {"length": 32}),
    }
    files = {}
    for name, (task_class, settings, options) in tasks.items():
        task = task_class.from_pretrained(encoder, sequence_length=128, **settings)
        files[name] = Path(kb.export.convert(task, **options).save(folder / f"{name}.tflite"))
    return files
