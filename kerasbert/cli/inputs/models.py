"""Opens the model of a command: a saved folder or a `.tflite` file, which predict and score alike."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kerasbert.cli.process.progress import loading, note
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.training.answer_options import check_answers_questions

if TYPE_CHECKING:
    from kerasbert.export.runtime.pipeline import Pipeline
    from kerasbert.tasks.base import Task


def open_model(model: str, threads: int = 1, answering: Mapping[str, Any] = MappingProxyType({})) -> "Pipeline | Task":
    """Open a model. A `.tflite` file needs no TensorFlow and runs in a process of its own.

    Args:
        model: A `.tflite` file, a saved folder or a hub name.
        threads: The number of CPU threads for a `.tflite` file.
        answering: Settings of question answering in place of the model's; see `answer_settings`.

    Returns:
        The task, or the file with its tokenizer and processor.

    Raises:
        KerasBertError: When there is no such model, it is damaged, or it is a file without kerasbert's metadata; and when there are
            settings of question answering for another task.
    """
    if is_tflite(model):
        from kerasbert.export.runtime.opening import open_pipeline

        pipeline = open_pipeline(model, threads, isolated=True)
        check_answers_questions(answering, pipeline.processor.name)
        return replace(pipeline, processor=replace(pipeline.processor, **answering)) if answering else pipeline
    with loading("the model"):
        from kerasbert.tasks.auto import load_task

        return change_answers(load_task(model), answering)


def change_answers(task: "Task", answering: Mapping[str, Any]) -> "Task":
    """Replace a task's settings of question answering, and print a line if nothing tells whether questions may have no answer.

    Args:
        task: The task.
        answering: The settings; see `answer_settings`.

    Returns:
        The task.

    Raises:
        KerasBertError: When there are settings for another task.
    """
    if answering or getattr(task, "no_answer", False) is None:
        check_answers_questions(answering, task.processor.name)
        for name, value in answering.items():
            setattr(task, name, value)
        if getattr(task, "no_answer", False) is None:
            note(
                "the model's files do not tell whether questions may have no answer, so each gets one: --no-answer is for models of "
                "SQuAD 2.0"
            )
    return task
