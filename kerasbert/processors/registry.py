"""The registry of processors and tasks, by name, without TensorFlow."""

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kerasbert.arguments import check_choice
from kerasbert.data.file_options import FileOptions
from kerasbert.processors.base import Processor

# Name -> module and class. A new processor is a line here.
_CLASSES = {
    "single_label": ("kerasbert.processors.classification", "SingleLabel"),
    "multi_label": ("kerasbert.processors.classification", "MultiLabel"),
    "regression": ("kerasbert.processors.classification", "Regression"),
    "embedding": ("kerasbert.processors.embedding", "Embedding"),
    "tagging": ("kerasbert.processors.tagging", "Tagging"),
    "question_answering": ("kerasbert.processors.question_answering", "QuestionAnswering"),
    "multiple_choice": ("kerasbert.processors.multiple_choice", "MultipleChoice"),
    "masked_lm": ("kerasbert.processors.masked_lm", "MaskedWords"),
    "few_shot": ("kerasbert.processors.few_shot", "FewShot"),
    "joint": ("kerasbert.processors.joint", "Joint"),
}
PROCESSORS = _CLASSES.keys()  # the names


def processor_class(name: str) -> type[Processor]:
    """Return the processor class of a name.

    Args:
        name: One of `PROCESSORS`.

    Returns:
        The class.

    Raises:
        KerasBertError: When there is none.

    Example:
        ```python
        from kerasbert.processors import processor_class
        processor_class("single_label").second_input  # "pair"
        ```
    """
    module, attribute = _CLASSES[check_choice(name, "a task type among", _CLASSES, "use one of them")]
    return getattr(importlib.import_module(module), attribute)


def make_processor(
    name: str, labels: Sequence[str] | None = None, settings: Mapping[str, Any] | None = None
) -> Processor:
    """Make the processor of a name.

    Args:
        name: One of `PROCESSORS`.
        labels: Names of the classes in the order of the outputs.
        settings: The processor's own settings; they may come from an untrusted file.

    Returns:
        The processor.

    Raises:
        KerasBertError: When there is no such processor, or it does not have these settings.

    Example:
        ```python
        from kerasbert.processors import make_processor
        processor = make_processor("single_label", labels=["negative", "positive"])
        ```
    """
    settings = {} if settings is None else settings
    given = processor_class(name).given(settings, f"settings of the task type {name!r}", strict=True)
    return processor_class(name)(**{**given, "labels": None if labels is None else tuple(labels)})


def read_for(
    name: str,
    path: str | os.PathLike,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | Sequence[str] | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
    encoding: str | None = None,
    label_separator: str | None = None,
) -> Any:
    """Read a data file of the examples of a processor; see `Processor.read` and `FileOptions`.

    Args:
        name: The processor's name, one of `PROCESSORS`.
        path: The file.
        text: The column of the text, by name or by number from "0" on.
        pair: The column of the second text.
        label: The column of the label, or for multi-label data a column of 0 and 1 for each label.
        max_rows: The maximum number of examples to read.
        delimiter: The character between columns.
        skip_bad_rows: Whether rows that cannot be read are skipped and counted. Otherwise the first one raises.
        encoding: The encoding of the file; None detects it.
        label_separator: The character between the labels of a multi-label cell; None detects it.

    Returns:
        A dataset of `kerasbert.data`.

    Raises:
        KerasBertError: When there is no such processor, a column does not exist, or the reader rejects the file.

    Example:
        ```python
        from kerasbert.processors import read_for
        data = read_for("tagging", "train.conll")
        data.x[0], data.y[0]
        ```
    """
    options = FileOptions(text, pair, label, delimiter, encoding, label_separator, skip_bad_rows, max_rows)
    return processor_class(name).read(path, options)


@dataclass(frozen=True)
class TaskName:
    """A task in commands, folders and classes of transformers.

    Attributes:
        architecture: The end of Hugging Face's class name.
        heads: Attributes of the layers that a checkpoint stores as heads.
        processor: Name of the task's processor; None if the task's settings choose it among those of `commands`.
        commands: Names of `--task`, each with the name of its processor.
        fixed_labels: Whether the labels are the checkpoint's and not the training data's.
        of_transformers: Whether transformers has classes with this end and these heads.
    """

    architecture: str
    heads: tuple[str, ...]
    processor: str | None = None
    commands: Mapping[str, str] = field(default_factory=dict)
    fixed_labels: bool = False
    of_transformers: bool = True


# Class of the task -> its names. The first whose heads a checkpoint's architecture has is that of its folder.
TASK_NAMES = {
    "TextClassifier": TaskName(
        "ForSequenceClassification",
        ("classifier",),
        commands={"classification": "single_label", "multi-label": "multi_label", "regression": "regression"},
    ),
    "TokenTagger": TaskName("ForTokenClassification", ("token_classifier",), "tagging", {"tagging": "tagging"}),
    "QuestionAnswerer": TaskName(
        "ForQuestionAnswering", ("qa_outputs",), "question_answering", {"question-answering": "question_answering"}
    ),
    "MultipleChoice": TaskName(
        "ForMultipleChoice", ("choice_classifier",), "multiple_choice", {"multiple-choice": "multiple_choice"}
    ),
    "MultiTask": TaskName("ForMultiTask", (), "joint", {"multi-task": "joint"}, of_transformers=False),
    "MaskedLM": TaskName("ForMaskedLM", ("masked_lm",), "masked_lm", {"masked-lm": "masked_lm"}),
    "SentenceEncoder": TaskName("Model", (), "embedding", {"sentence-pairs": "embedding"}),
    "NextSentencePredictor": TaskName(
        "ForNextSentencePrediction",
        ("next_sentence",),
        "single_label",
        {"next-sentence": "single_label"},
        fixed_labels=True,
    ),
    "ReplacedTokenDetector": TaskName("ForPreTraining", ("discriminator",)),
    "Pretrainer": TaskName("ForPreTraining", ("masked_lm", "next_sentence")),
}


def train_tasks() -> dict[str, tuple[str, str]]:
    """Return the names of `kerasbert train --task`, each with the name of the task's class and of its processor."""
    return {
        command: (name, processor) for name, task in TASK_NAMES.items() for command, processor in task.commands.items()
    }
