"""The settings of a distillation as one value, which the options of `kerasbert distill` declare."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from kerasbert.checkpoints.layer_counts import parse_layers
from kerasbert.errors import KerasBertError
from kerasbert.files.record import REQUIRED, Options, flag, same_setting, setting
from kerasbert.training.objective_config import LABEL_WEIGHT_HELP
from kerasbert.training.replacement import Replacement

AUGMENTATIONS = ("words", "masks")
BILSTM = "bilstm"  # a student that is no checkpoint
_OF_BILSTM = ("lstm_units", "embedding_size")
PROJECTIONS = ("up", "down")
VOCABULARY_SIZE, MIXING_RATE, PROJECTION_WEIGHT = 5000, 0.5, 10.0


@dataclass(frozen=True)
class Method:
    """A method of distillation.

    Attributes:
        settings: The settings of `DistillConfig` that it reads beside `teacher`; no other one may differ from its default.
        needs_layers: Whether the number of the student's layers must be given, where there is no `student`.
        task: What the data are read as, such as `masked_lm`; None for the teacher's own task.
    """

    settings: tuple[str, ...]
    needs_layers: bool = True
    task: str | None = None


METHODS: Mapping[str, Method] = {
    "objectives": Method(
        (
            "student", "layers", "strategy", "no_norm", "objectives", "temperature", "layer_map", "label_weight", "cache", "lstm_units",
            "embedding_size", "unlabelled", "augment", "augmentation", "language_model",
        )
    ),
    "tinybert": Method(
        (
            "student", "layers", "strategy", "temperature", "layer_map", "label_weight", "cache", "unlabelled", "augment", "augmentation",
            "language_model", "text", "general_teacher", "general_epochs", "general_rate", "intermediate_epochs", "intermediate_rate",
            "intermediate_objectives",
        )
    ),
    "theseus": Method(
        ("layers", "strategy", "replacement", "replacement_rate", "replacement_slope", "fine_tune_epochs")
    ),
    "dual-vocabulary": Method(
        ("layers", "layer_map", "vocabulary_size", "hidden_size", "mixing_rate", "projection", "projection_weight"),
        needs_layers=False, task="masked_lm",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class DistillConfig(Options):
    """The settings of `kerasbert distill` beside those of the training run.

    Raises:
        KerasBertError: When a value is out of range, a setting is one of another method, or what makes the student is missing.

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
    method: str = setting(
        "objectives",
        "Method: objectives (losses against the teacher), tinybert (hidden states and attention first, then outputs), theseus (layers take "
        "the place of the teacher's) or dual-vocabulary (a language model with a smaller vocabulary, from texts).",
        "NAME",
        choices=tuple(METHODS),
    )
    student: str | None = setting(
        None,
        "Initial checkpoint of the student, or bilstm for an LSTM; an alternative to --layers.",
        "FOLDER|HUB|bilstm",
    )
    layers: str | None = setting(None, "Number of teacher layers to copy, or their indices.", "N|N,N,...")
    strategy: str = setting(
        "alternate", "How to pick teacher layers when --layers is a count: alternate, first or last.", "NAME"
    )
    lstm_units: int | None = setting(
        None, "Units of a bilstm in each direction. Default: 150.", at_least=1, at_most=4096
    )
    embedding_size: int | None = setting(
        None, "Width of the token embeddings of a bilstm. Default: 128, or the teacher's if that is less.", at_least=1
    )
    no_norm: bool = setting(
        False, "Replace layer norms by scales and shifts, and GELU by ReLU, for integer processors."
    )
    objectives: str = setting(
        "soft-labels=1",
        "Distillation losses and their weights: soft-labels, logits, cosine, hidden, patient, attention, relations, features.",
        "NAME=WEIGHT,...",
    )
    temperature: float = setting(2.0, "Temperature of soft-labels.", "T")
    layer_map: str | None = setting(None, "Mapping of teacher layers to student layers: uniform, skip or last.", "NAME")
    label_weight: float | None = setting(None, LABEL_WEIGHT_HELP, "X", at_least=0)
    cache: str | None = setting(
        None, "Cache folder for the teacher's outputs, which are then computed only once.", "FOLDER"
    )

    unlabelled: str | None = setting(
        None, "More texts without labels, which the teacher labels: a file of lines, or a data file.", "FILE"
    )
    augment: int | None = setting(None, "Number of variants of each text, which the teacher labels.", at_least=1)
    augmentation: str = setting(
        "words",
        "Kind of variants: words (likely ones of a masked language model) or masks (masked words, and runs of words).",
        "NAME",
        choices=AUGMENTATIONS,
    )
    language_model: str | None = setting(None, "Masked language model of --augmentation words.", "FOLDER|HUB")

    text: str | None = setting(
        None, "Raw text for general distillation, the first stage of tinybert; left out without it.", "FILE"
    )
    general_teacher: str | None = setting(
        None,
        "Teacher of general distillation, such as the encoder before fine-tuning. Default: --teacher.",
        "FOLDER|HUB",
    )
    general_epochs: int = setting(1, "Number of epochs of general distillation.", at_least=1)
    general_rate: float | None = setting(
        None, "Peak learning rate of general distillation. Default: as recommended for the model.", "RATE", above=0
    )
    intermediate_epochs: int = setting(10, "Number of epochs of the stage on hidden states and attention.", at_least=1)
    intermediate_rate: float | None = setting(
        None, "Peak learning rate of that stage. Default: as recommended for the model.", "RATE", above=0
    )
    intermediate_objectives: str = setting(
        "hidden=1,attention=100", "Losses of that stage and of general distillation.", "NAME=WEIGHT,..."
    )

    replacement: str = same_setting(Replacement, "kind")
    replacement_rate: float = same_setting(Replacement, "rate")
    replacement_slope: float | None = same_setting(Replacement, "slope")
    fine_tune_epochs: int | None = same_setting(Replacement, "fine_tune_epochs")

    vocabulary_size: int = setting(
        VOCABULARY_SIZE, "Tokens of the vocabulary that a student with a second vocabulary learns.", at_least=6
    )
    hidden_size: int | None = setting(None, "Hidden size of that student. Default: half of the teacher's.", at_least=1)
    mixing_rate: float = setting(
        MIXING_RATE, "Probability that the teacher reads a word in the student's tokens.", "P", at_least=0, at_most=1
    )
    projection: str = setting(
        "up", "Which weights are projected and compared: the student's (up) or the teacher's (down).", "NAME",
        choices=PROJECTIONS,
    )  # fmt: skip
    projection_weight: float = setting(PROJECTION_WEIGHT, "Weight of the loss of the projections.", "X", at_least=0)

    @property
    def replacement_schedule(self) -> Replacement:
        """The replacement rate of modules over the steps."""
        return Replacement(self.replacement, self.replacement_rate, self.replacement_slope, self.fine_tune_epochs)

    @property
    def own_label_weight(self) -> float | None:
        """The factor of the student's own loss; that of tinybert is 0 by default, as in the paper."""
        return 0.0 if self.label_weight is None and self.method == "tinybert" else self.label_weight

    @property
    def kept_layers(self) -> int | list[int] | None:
        """The number of layers to copy, or their indices; None with a student.

        Raises:
            KerasBertError: When the option is neither.
        """
        return None if self.layers is None else parse_layers(self.layers)

    def check(self) -> None:
        self._check_method()
        method = METHODS[self.method]
        if "student" in method.settings:
            if (self.student is None) == (self.layers is None):
                received = "neither" if self.student is None else "both"
                raise KerasBertError(f"expected either --student or --layers, received {received}; give one of them")
        elif method.needs_layers and self.layers is None:
            raise KerasBertError(f"expected --layers with --method {self.method}, received none; name their number")
        if "strategy" not in method.settings and self.layers is not None and "," in self.layers:
            raise KerasBertError(
                f"expected --layers as a number with --method {self.method}, received {self.layers}; its student has new layers"
            )
        if self.student != BILSTM and (found := [name for name in _OF_BILSTM if getattr(self, name) is not None]):
            raise KerasBertError(
                f"expected --student {BILSTM} with {flag(found[0])}, received another student; leave one out"
            )
        self._check_augmentation()
        if self.student == BILSTM and self.method == "tinybert":
            raise KerasBertError(
                "expected a transformer with --method tinybert, received --student bilstm; leave --method out"
            )
        if self.text is None and self.general_teacher is not None:
            raise KerasBertError("expected --text with --general-teacher, received none; name a file of raw text")
        if self.student == BILSTM and self.no_norm:
            raise KerasBertError(
                "expected a transformer with --no-norm, received --student bilstm; leave --no-norm out"
            )
        if self.strategy != "alternate" and (self.layers is None or "," in self.layers):
            raise KerasBertError(
                f"expected --layers as a number with --strategy {self.strategy}, received {self.layers or 'none'}; leave --strategy out"
            )
        _ = self.replacement_schedule  # checks its settings together

    def _check_augmentation(self) -> None:
        """Check the settings of variants together.

        Raises:
            KerasBertError: When one of them is missing, or not used.
        """
        if self.augment is None and (self.language_model is not None or self.augmentation != AUGMENTATIONS[0]):
            raise KerasBertError(
                "expected --augment with --augmentation or --language-model, received none; name a number of variants"
            )
        if self.augment is not None and (self.augmentation == "words") != (self.language_model is not None):
            received = "none" if self.language_model is None else f"--augmentation {self.augmentation}"
            advice = (
                "name a masked language model, or take --augmentation masks" if received == "none" else "leave one out"
            )
            raise KerasBertError(
                f"expected --language-model with --augment and --augmentation words, received {received}; {advice}"
            )

    def _check_method(self) -> None:
        """Check that no setting is one of other methods only.

        Raises:
            KerasBertError: When one is.
        """
        for each in dataclasses.fields(self):
            methods = [name for name, method in METHODS.items() if each.name in method.settings]
            if methods and self.method not in methods and getattr(self, each.name) != each.default:
                raise KerasBertError(
                    f"expected --method {' or '.join(methods)} with {flag(each.name)}, received --method {self.method}; leave one out"
                )
