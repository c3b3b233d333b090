"""The settings of a distillation as one value, which the options of `kerasbert distill` declare."""

from dataclasses import dataclass

from kerasbert.checkpoints.layer_counts import parse_layers
from kerasbert.errors import KerasBertError
from kerasbert.files.record import REQUIRED, Options, setting
from kerasbert.training.objective_config import LABEL_WEIGHT_HELP


@dataclass(frozen=True)
class DistillConfig(Options):
    """The settings of `kerasbert distill` beside those of the training run.

    Raises:
        KerasBertError: When a value is out of range, or not exactly one of `student` and `layers` is given.

    Example:
        ```python
        from kerasbert.training import DistillConfig
        from kerasbert.training.distillation import Distiller, parse_objectives, student_from
        config = DistillConfig(teacher="runs/mine", layers="2", objectives="soft-labels=1,hidden=1")
        student = student_from(task, config.kept_layers, config.strategy)
        objectives = parse_objectives(config.objectives, config.temperature, config.layer_map)
        distiller = Distiller(student, task, objectives, config.label_weight)
        ```
    """

    teacher: str = setting(REQUIRED, "Trained teacher model: a folder, or a hub name such as org/name.", "FOLDER|HUB")
    student: str | None = setting(
        None, "Initial checkpoint of the student, as an alternative to --layers.", "FOLDER|HUB"
    )
    layers: str | None = setting(None, "Number of teacher layers to copy, or their indices.", "N|N,N,...")
    strategy: str = setting(
        "alternate", "How to pick teacher layers when --layers is a count: alternate, first or last.", "NAME"
    )
    no_norm: bool = setting(
        False, "Replace layer norms by scales and shifts, and GELU by ReLU, for integer processors."
    )
    objectives: str = setting(
        "soft-labels=1",
        "Distillation losses and their weights: soft-labels, cosine, hidden, patient, attention, relations, features.",
        "NAME=WEIGHT,...",
    )
    temperature: float = setting(2.0, "Temperature of soft-labels.", "T")
    layer_map: str | None = setting(None, "Mapping of teacher layers to student layers: uniform, skip or last.", "NAME")
    label_weight: float | None = setting(None, LABEL_WEIGHT_HELP, "X", at_least=0)
    cache: str | None = setting(
        None, "Cache folder for the teacher's outputs, which are then computed only once.", "FOLDER"
    )

    @property
    def kept_layers(self) -> int | list[int] | None:
        """The number of layers to copy, or their indices; None with a student.

        Raises:
            KerasBertError: When the option is neither.
        """
        return None if self.layers is None else parse_layers(self.layers)

    def check(self) -> None:
        if (self.student is None) == (self.layers is None):
            received = "neither" if self.student is None else "both"
            raise KerasBertError(f"expected either --student or --layers, received {received}; give one of them")
        if self.strategy != "alternate" and (self.layers is None or "," in self.layers):
            raise KerasBertError(
                f"expected --layers as a number with --strategy {self.strategy}, received {self.layers or 'none'}; leave --strategy out"
            )
