"""What a task is asked and what it answers, without TensorFlow: the same code serves a Keras model and a `.tflite` file.

x --examples--> examples --rows--> token rows --(the model)--> outputs --read--> readings --answers--> what a user reads
                    y --targets--> what the loss wants                                   --scores--> the task's metrics
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.class_scores import ClassScore
from kerasbert.processors.contributions import Contributions
from kerasbert.processors.features import Rows

Reading = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Processor:
    """The base of all problems. labels: names of the classes in the order of the outputs, where there are any.

    A subclass adds its settings as fields with defaults; they are JSON-able and travel in a `.tflite` file's card.

    Class attributes:
      name: how cards and folders name the problem.
      outputs: the exported file's output names.
      compared_as: how two sets of readings are compared: `single_label` (same arg-max), `multi_label`, `regression` or `embedding`.
      cut: what of an example is cut where it is too long, in the plural.
      self_supervised: whether targets are made of the texts themselves, anew for each batch.
    """

    labels: tuple[str, ...] | None = None

    name: ClassVar[str]
    outputs: ClassVar[tuple[str, ...]]
    compared_as: ClassVar[str] = "single_label"
    self_supervised: ClassVar[bool] = False
    cut: ClassVar[str] = "texts"

    @classmethod
    def label_names(cls, y) -> tuple[str, ...] | None:
        """The labels of some training data in the order of the outputs; None for a problem without labels.

        Raises KerasBertError where no model can be trained on them.
        """
        return None

    def check(self, y, examples: Sequence) -> None:
        """Raises KerasBertError naming the first label that `targets` would refuse; needs no tokens."""

    def examples(self, x) -> list:
        """What a user hands over, as a list with one entry an example. Raises KerasBertError naming the first wrong one."""
        raise NotImplementedError

    def rows(self, examples: Sequence, tokenizer, length: int) -> Rows:
        """Token rows of at most `length` tokens."""
        raise NotImplementedError

    def scoring_rows(self, examples: Sequence, tokenizer, length: int) -> Rows:
        """The rows that `scores` is for: those of `rows`, but of a self-supervised problem with what is to be found taken out."""
        return self.rows(examples, tokenizer, length)

    def targets(self, y, examples: Sequence, rows: Rows) -> Any:
        """What the loss wants of each row: an array (rows, ...); a list of int32 arrays, one value a token, for targets that are padded
        with `IGNORED` as the rows are; or a dict of such by output name.

        Raises KerasBertError naming the first wrong one.
        """
        raise NotImplementedError

    def corrupt(self, inputs: dict[str, np.ndarray], tokenizer, random: np.random.Generator):
        """Of a self-supervised problem: a packed batch with what is to be found taken out, and the targets (B, S)."""
        raise NotImplementedError

    def read(self, outputs: Reading, rows: Rows, row: int) -> Reading:
        """What is kept of one row's outputs (without batch axis, padded as the model read them): arrays (n, width) of real places only."""
        return {name: np.atleast_2d(values) for name, values in outputs.items()}

    def comparable(self, outputs: Reading, rows: Rows, row: int) -> Reading:
        """What two models are compared by, from what `read` takes: arrays (n, width), one decision a line, see `compared_as`."""
        return self.read(outputs, rows, row)

    def answers(self, examples: Sequence, rows: Rows, readings: Sequence[Reading]) -> list:
        """One answer an example, JSON-able. readings: of each row."""
        raise NotImplementedError

    def scores(self, y, examples: Sequence, rows: Rows, readings: Sequence[Reading]) -> dict[str, float]:
        """The task's metrics by name; the first is the one by which an epoch is chosen. y: as `targets` takes it."""
        raise NotImplementedError

    def contributions(self, y, examples: Sequence, rows: Rows, readings: Sequence[Reading]) -> Contributions | None:
        """What each example adds to the main metric of `scores`; None where that is not known."""
        return None

    def class_scores(self, y, examples: Sequence, rows: Rows, readings: Sequence[Reading]) -> dict[str, ClassScore]:
        """How well each class or entity type is found, by name; empty for a problem without."""
        return {}

    def settings(self) -> dict[str, Any]:
        """The fields beside `labels`, for a card."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "labels"}


def same_number(y, examples: Sequence, what: str = "labels") -> None:
    """Raises KerasBertError unless there is one of `y` for each example."""
    if len(y) != len(examples):
        raise KerasBertError(f"expected one of the {what} for each text, received {len(y)} for {len(examples)} texts")


def joined(readings: Sequence[Reading], name: str) -> np.ndarray:
    """One output's readings below each other, (N, width)."""
    return np.concatenate([reading[name] for reading in readings])


def check_finite(readings: Sequence[Reading]) -> None:
    """Raises KerasBertError where outputs hold NaN or infinity: a score of them would be that of a class at random."""
    for name in readings[0] if readings else ():
        broken = [row for row, reading in enumerate(readings) if not np.isfinite(reading[name]).all()]
        if broken:
            raise KerasBertError(
                f"expected finite outputs to score, received NaN or infinity in {name!r} on {len(broken):,} of {len(readings):,} rows, "
                f"the first is row {broken[0]}; the model is damaged, or its training diverged"
            )
