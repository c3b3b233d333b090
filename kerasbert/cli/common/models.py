"""A saved folder or a `.tflite` file as one thing: examples in, answers and scores out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from kerasbert.cli.common.loading import loading
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.processors import Processor

_BATCH = 32

__all__ = ["Predictor", "is_tflite", "open_predictor"]

Report = Callable[[int, int], None]


class Predictor(Protocol):
    """processor: what the model is asked and answers, with its labels. `answer` and `score`: as those of `kerasbert.tasks.base.Task`."""

    processor: Processor

    def predictions(self, x, report: Report | None = None) -> list: ...

    def score(self, x, y, report: Report | None = None) -> dict[str, float]: ...


def open_predictor(model: str, threads: int = 1) -> Predictor:
    """Opens a `.tflite` file, without TensorFlow and in a process of its own, or else a saved folder or hub name.

    Raises KerasBertError when it is none of them, is damaged, or is a file without kerasbert's metadata.
    """
    if is_tflite(model):
        from kerasbert.export.runtime.predictor import open_predictor as open_file

        return open_file(model, threads, isolated=True)
    with loading("the model"):
        from kerasbert.tasks.auto import load_task

        return _Folder(load_task(model))


@dataclass(frozen=True)
class _Folder:
    task: Any

    @property
    def processor(self) -> Processor:
        return self.task.processor

    def predictions(self, x, report=None):
        return self.task.predictions(x, _BATCH, report)

    def score(self, x, y, report=None):
        return self.task.score(x, y, _BATCH, report)
