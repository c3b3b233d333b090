"""The settings of question answering as options: `train` stores them in the model, other commands replace those of a model."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.record import Options, flag, setting

_LARGEST = 2**20  # as in the metadata of a file
# Options -> settings of `QuestionAnswering`, where the names differ.
_SETTINGS = {"max_answer_length": "longest_answer", "answers": "n_best"}


@dataclass(frozen=True)
class AnswerConfig(Options):
    """The settings of question answering that a command replaces; None keeps the model's.

    Raises:
        KerasBertError: When a value is out of range, or a threshold is given where every question gets an answer.
    """

    no_answer: bool | None = setting(
        None,
        "Question answering: questions may have no answer, as in SQuAD 2.0. `train` default: as in the training data.",
        "",
        off="always-answer",
    )
    no_answer_threshold: float | None = setting(
        None,
        "Question answering: margin by which no answer must outscore the best answer. `train` default: the best by F1 on --dev.",
        "X",
        at_least=-_LARGEST,
        at_most=_LARGEST,
    )
    stride: int | None = setting(
        None,
        "Question answering: tokens from the start of a window of a long context to that of the next (doc_stride).",
        at_least=1,
        at_most=_LARGEST,
    )
    max_answer_length: int | None = setting(
        None, "Question answering: tokens in the longest answer.", at_least=1, at_most=_LARGEST
    )
    answers: int | None = setting(
        None,
        "Question answering: number of answers that a prediction lists, the best first.",
        at_least=1,
        at_most=_LARGEST,
    )
    unit: str | None = setting(
        None,
        "Question answering: unit of F1, word or character (Chinese, Japanese, Korean).",
        "NAME",
        choices=("word", "character"),
    )

    def check(self) -> None:
        answer_settings(self)


def answer_settings(config: Any) -> dict[str, Any]:
    """Return the given settings of a config under the names of `QuestionAnswering`.

    Args:
        config: An `AnswerConfig`, or a config with fields of its names.

    Raises:
        KerasBertError: When a threshold is given where every question gets an answer.
    """
    given = {each.name: getattr(config, each.name, None) for each in fields(AnswerConfig)}
    settings = {_SETTINGS.get(name, name): value for name, value in given.items() if value is not None}
    if "no_answer_threshold" in settings and not settings.setdefault("no_answer", True):
        raise KerasBertError(
            "expected --no-answer-threshold with questions that may have no answer, received --always-answer; leave one of them out"
        )
    return settings


def check_answers_questions(settings: Mapping[str, Any], processor_name: str) -> None:
    """Check that settings of question answering are for a model that answers questions.

    Args:
        settings: The result of `answer_settings`.
        processor_name: The name of the model's processor.

    Raises:
        KerasBertError: When they are not.
    """
    if settings and processor_name != "question_answering":
        names = {setting: name for name, setting in _SETTINGS.items()}
        first = flag(names.get(next(iter(settings)), next(iter(settings))))
        raise KerasBertError(
            f"expected {first} for question answering only, received it for the task type {processor_name!r}; leave it out"
        )
