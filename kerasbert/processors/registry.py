"""The processors and tasks there are, by name, without TensorFlow."""

import functools
import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, get_type_hints

from kerasbert.data.reading import FileOptions
from kerasbert.errors import KerasBertError
from kerasbert.processors.base import Processor

# Name -> module and class. A new processor is a line here.
_CLASSES = {
    "single_label": ("kerasbert.processors.classification", "SingleLabel"),
    "multi_label": ("kerasbert.processors.classification", "MultiLabel"),
    "regression": ("kerasbert.processors.classification", "Regression"),
    "embedding": ("kerasbert.processors.embedding", "Embedding"),
    "tagging": ("kerasbert.processors.token_classification.processor", "Tagging"),
    "question_answering": ("kerasbert.processors.question_answering.processor", "QuestionAnswering"),
    "multiple_choice": ("kerasbert.processors.multiple_choice", "MultipleChoice"),
    "masked_lm": ("kerasbert.processors.masked_lm", "MaskedWords"),
}
PROCESSORS = _CLASSES.keys()  # names
_LARGEST_SETTING = 1 << 20


def processor_class(name: str) -> type[Processor]:
    """The class of that name.

    Raises:
        KerasBertError: When there is none.
    """
    if name not in _CLASSES:
        raise KerasBertError(f"expected a task type among {', '.join(_CLASSES)}, received {name!r}")
    module, attribute = _CLASSES[name]
    return getattr(importlib.import_module(module), attribute)


def make_processor(
    name: str, labels: Sequence[str] | None = None, settings: Mapping[str, Any] | None = None
) -> Processor:
    """The processor of that name.

    Args:
        name: One of `PROCESSORS`.
        labels: Names of the classes in the order of the outputs.
        settings: Its own settings; they may come from a file of unknown origin.

    Raises:
        KerasBertError: When there is no such processor, or it does not have such settings.
    """
    kind = processor_class(name)
    settings = dict(settings or {})
    if unknown := sorted(settings.keys() - {field.name for field in fields(kind) if field.name != "labels"}):
        raise KerasBertError(f"expected settings of the task type {name!r}, received {unknown[0]!r}")
    hints = _type_hints(kind) if settings else {}
    for key, value in settings.items():
        _check_setting(key, value, hints[key])
    return kind(labels=None if labels is None else tuple(labels), **settings)


def read_for(
    name: str,
    path: str | os.PathLike,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
) -> Any:
    """Reads a data file as the processor of that name takes it; see `Processor.read` and `FileOptions`."""
    return processor_class(name).read(path, FileOptions(text, pair, label, max_rows, delimiter, skip_bad_rows))


_type_hints = functools.cache(get_type_hints)


def _check_setting(key: str, value: object, kind: Any) -> None:
    """Raises KerasBertError for a value of another type, and a count out of all bounds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    right = isinstance(value, kind) if value is None or not number else isinstance(value, kind) or kind is float
    if isinstance(value, bool):
        right = kind is bool
    if right and isinstance(value, int | float) and not isinstance(value, bool):
        whole = isinstance(value, int) and kind is not float
        right = 0 < value <= _LARGEST_SETTING if whole else abs(value) <= _LARGEST_SETTING
    if not right:
        raise KerasBertError(f"expected a value that the setting {key!r} can have, received {str(value)[:60]!r}")


@dataclass(frozen=True)
class TaskName:
    """A task class as commands and folders name it.

    Attributes:
        architecture: The end of Hugging Face's class name.
        processor: Name of the task's processor; None where the task's settings choose it.
        commands: Names of `--task`, each with the name of its processor.
        fixed_labels: Whether the labels are the checkpoint's and not the training data's.
    """

    architecture: str
    processor: str | None
    commands: Mapping[str, str] = field(default_factory=dict)
    fixed_labels: bool = False


TASK_NAMES = {
    "TextClassifier": TaskName(
        "ForSequenceClassification",
        None,
        {"classification": "single_label", "multi-label": "multi_label", "regression": "regression"},
    ),
    "TokenTagger": TaskName("ForTokenClassification", "tagging", {"tagging": "tagging"}),
    "QuestionAnswerer": TaskName(
        "ForQuestionAnswering", "question_answering", {"question-answering": "question_answering"}
    ),
    "MultipleChoice": TaskName("ForMultipleChoice", "multiple_choice", {"multiple-choice": "multiple_choice"}),
    "MaskedLM": TaskName("ForMaskedLM", "masked_lm", {"masked-lm": "masked_lm"}),
    "SentenceEncoder": TaskName("Model", "embedding", {"sentence-pairs": "embedding"}),
    "NextSentencePredictor": TaskName(
        "ForNextSentencePrediction", "single_label", {"next-sentence": "single_label"}, fixed_labels=True
    ),
}


def train_tasks() -> dict[str, tuple[str, str]]:
    """Names of `kerasbert train --task`, each with the task's class and its processor."""
    return {
        command: (name, processor) for name, task in TASK_NAMES.items() for command, processor in task.commands.items()
    }
