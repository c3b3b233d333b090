"""The result of a training beside that of always giving the most frequent answer."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.training.config import TrainConfig
from kerasbert.training.recommended import MOST_EPOCHS, recommended_for

if TYPE_CHECKING:
    from kerasbert.processors import Processor
    from kerasbert.processors.labelled_outputs import LabelledOutputs
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import StudentTraining

_ERRORS = 2.0  # standard errors above chance, from which on a result counts as better


@dataclass(frozen=True)
class Chance:
    """A task's main metric on dev data, and that of the most frequent answer.

    Attributes:
        value: The task's metric.
        chance: The metric of always giving the most frequent answer; 0 where there is no such answer.
        answer: That answer.
        at_chance: Whether the metric is not above chance by two standard errors.
    """

    value: float
    chance: float
    answer: str
    at_chance: bool

    def warning(self, metric: str, config: TrainConfig, task: "Task | StudentTraining") -> str | None:
        """Return a line that says what to try next, or None for a result above chance.

        Args:
            metric: The name of the metric.
            config: The settings of the training.
            task: The trained task.
        """
        if not self.at_chance:
            return None
        beaten = f"the {self.chance:.4f} of always answering {self.answer!r}" if self.answer else f"{self.chance:g}"
        return (
            f"warning: dev {metric} {self.value:.4f} is no better than {beaten}: the model has learned nothing that counts here; "
            f"{_next_step(config, task)}"
        )


def compare_with_chance(processor: "Processor", outputs: "LabelledOutputs") -> Chance | None:
    """Compare a task with the most frequent answer.

    Args:
        processor: The processor of the trained task.
        outputs: The task's outputs on dev data.

    Returns:
        The comparison, or None for a task whose metric is no mean over examples.
    """
    found = processor.contributions(*outputs)
    if found is None:
        return None
    value = found.value
    error = float(np.sqrt(np.mean(np.square(found.influence)) / len(found.influence)))
    at_chance = math.isnan(value) or value <= found.chance + _ERRORS * error
    return Chance(0.0 if math.isnan(value) else value, found.chance, found.chance_answer, at_chance)


def _next_step(config: TrainConfig, task: "Task | StudentTraining") -> str:
    """Return what to change first: a rate far from the recommended one, else few epochs, else the rate."""
    recommended = recommended_for(task)
    rate, epochs = config.learning_rate or 0.0, config.epochs or 1
    if rate < recommended.learning_rate / 2 or rate > recommended.learning_rate * 4:
        return f"try --learning-rate {recommended.learning_rate:g}, recommended for {recommended.source}"
    if epochs < MOST_EPOCHS:
        return f"try --epochs {min(MOST_EPOCHS, max(3 * epochs, recommended.epochs))}, or check the labels"
    return f"try --learning-rate {rate / 5:g}, or check the labels"
