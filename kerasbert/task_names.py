"""Tasks by name, without TensorFlow: their classes, Hugging Face's architectures, and the names of `kerasbert train --task`."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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
