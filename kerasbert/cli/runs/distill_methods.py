"""The methods of `kerasbert distill`: what is trained, and what the record of the run says about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kerasbert.cli.runs.stages import Stage
from kerasbert.training.config import TrainConfig
from kerasbert.training.distill_config import BILSTM, DistillConfig

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset
    from kerasbert.tasks import SentenceEncoder
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import Objective, StudentTraining

_SCALE_EXAMPLES = 512  # for the scales and shifts of a student without layer norms


@dataclass(frozen=True)
class Distillation:
    """What a method trains.

    Attributes:
        teacher: The teacher.
        training: The model that trains the student.
        settings: The settings of the method, for the record of the run.
        facts: What else the record says.
        stages: The stages before that training, in which other models train the student.
    """

    teacher: "Task"
    training: "StudentTraining"
    settings: Mapping[str, Any]
    facts: Mapping[str, Any]
    stages: Sequence[Stage] = ()


def make_distillation(config: DistillConfig, training: TrainConfig, data: "Dataset") -> Distillation:
    """Load the teacher, and make the student and what trains it, by the method of the config.

    Args:
        config: The settings of the distillation.
        training: The settings of the training run.
        data: The training data.

    Raises:
        KerasBertError: When the models do not fit the method.
    """
    return _METHODS[config.method](config, training, data)


def _by_objectives(config: DistillConfig, training: TrainConfig, data: "Dataset") -> Distillation:
    from kerasbert.training.distillation import Distiller, parse_objectives

    objectives = parse_objectives(config.objectives, config.temperature, config.layer_map)
    teacher, student = _load(config, training)
    student = _adapt_student(student, config, training, data)
    distiller = Distiller(student, teacher, objectives, config.label_weight, config.cache)
    settings = {
        "objectives": config.objectives,
        "temperature": config.temperature,
        "label_weight": distiller.label_weight,
    }
    facts = {"no_norm": config.no_norm, "layer_map": config.layer_map, "cache": config.cache}
    return Distillation(teacher, distiller, settings, facts)


def _by_replacement(config: DistillConfig, training: TrainConfig, data: "Dataset") -> Distillation:
    from kerasbert.training.distillation import Theseus

    teacher, student = _load(config, training)
    student = _adapt_student(student, config, training, data)
    theseus = Theseus(student, teacher, config.replacement_schedule)
    settings = {
        "replacement": config.replacement,
        "replacement_rate": config.replacement_rate,
        "replacement_slope": config.replacement_slope,
    }
    return Distillation(teacher, theseus, settings, {"modules": theseus.modules})


def _by_two_vocabularies(config: DistillConfig, training: TrainConfig, data: "Dataset") -> Distillation:
    from kerasbert.cli.process.progress import loading, progress

    with loading("the teacher"):
        import tf_keras as keras

        from kerasbert.tasks.masked_lm import MaskedLM
        from kerasbert.training.distillation import DualVocabulary, small_vocabulary_student

        keras.utils.set_random_seed(training.seed)
        teacher = MaskedLM.from_pretrained(config.teacher, sequence_length=training.sequence_length)
    with progress("learning the vocabulary"):
        layers = config.kept_layers
        student = small_vocabulary_student(
            teacher, data.x, config.vocabulary_size, config.hidden_size, layers if isinstance(layers, int) else None
        )
    dual = DualVocabulary(
        _trainable(student, training),
        teacher, config.mixing_rate, config.projection, config.projection_weight, config.layer_map or "uniform",
    )  # fmt: skip
    settings = {
        "vocabulary_size": student.tokenizer.vocabulary_size,
        "hidden_size": student.config.hidden_size,
        "mixing_rate": config.mixing_rate,
        "projection": config.projection,
        "projection_weight": config.projection_weight,
    }
    return Distillation(teacher, dual, settings, {"layer_map": config.layer_map})


def _in_stages(config: DistillConfig, training: TrainConfig, data: "Dataset") -> Distillation:
    """TinyBERT (Jiao et al. 2020): general distillation on raw text, intermediate layers on the task's texts, then outputs."""
    from kerasbert.training.distillation import Distiller, SoftLabels, parse_objectives

    objectives = parse_objectives(config.intermediate_objectives, config.temperature, config.layer_map)
    teacher, student = _load(config, training)
    student = _adapt_student(student, config, training, data)
    distiller = Distiller(student, teacher, [SoftLabels(config.temperature)], config.own_label_weight, config.cache)

    def on_layers() -> Distiller:
        return Distiller(student, teacher, objectives, label_weight=0)

    on_layers()  # the models fit, before anything is trained
    stages = [
        Stage(
            "intermediate-layer",
            on_layers,
            lambda rows: replace(rows, y=None),
            config.intermediate_epochs,
            config.intermediate_rate,
        )
    ]
    if config.text is not None:
        stages.insert(0, _general(config, training, teacher, student, objectives))
    settings = {
        "intermediate_objectives": config.intermediate_objectives,
        "temperature": config.temperature,
        "label_weight": distiller.label_weight,
    }
    facts = {"layer_map": config.layer_map, "cache": config.cache, "text": config.text}
    return Distillation(teacher, distiller, settings, facts, stages)


def _general(
    config: DistillConfig, training: TrainConfig, teacher: "Task", student: "Task", objectives: "Sequence[Objective]"
) -> Stage:
    """The stage on raw text, in which the encoders are those of sentence encoders: these take single texts and have no head."""
    from kerasbert.data.plain_text import read_text
    from kerasbert.tasks import SentenceEncoder
    from kerasbert.training.distillation import Distiller

    texts = read_text(config.text or "", max_rows=training.max_rows, encoding=training.encoding)

    def make() -> Distiller:
        length = student.sequence_length
        if config.general_teacher is None:
            large = _sentence_encoder(teacher, length)
        else:
            large = SentenceEncoder.from_pretrained(config.general_teacher, sequence_length=length)
        return Distiller(_sentence_encoder(student, length), large, objectives, label_weight=0)

    return Stage("general", make, lambda rows: texts, config.general_epochs, config.general_rate)


def _sentence_encoder(task: "Task", length: int) -> "SentenceEncoder":
    """A sentence encoder on the encoder of a task."""
    from kerasbert.tasks import SentenceEncoder

    made = SentenceEncoder(task.encoder, task.tokenizer, sequence_length=length)
    if task.encoder.pooler is not None:
        task.encoder.pooler.trainable = True  # a sentence encoder freezes it, and the task trains it afterwards
    return made


_METHODS: Mapping[str, Callable[[DistillConfig, TrainConfig, "Dataset"], Distillation]] = {
    "objectives": _by_objectives,
    "tinybert": _in_stages,
    "theseus": _by_replacement,
    "dual-vocabulary": _by_two_vocabularies,
}


def _load(config: DistillConfig, training: TrainConfig) -> "tuple[Task, Task]":
    """Load the teacher, and create the student."""
    from kerasbert.cli.process.progress import loading

    with loading("the models"):
        import tf_keras as keras

        from kerasbert.checkpoints.hugging_face import max_sequence_length, read_config, resolve
        from kerasbert.tasks.auto import load_task
        from kerasbert.training.distillation import bilstm_student, student_from

        keras.utils.set_random_seed(training.seed)
        teacher = load_task(config.teacher)
        if config.kept_layers is not None:
            student = student_from(teacher, config.kept_layers, config.strategy, training.sequence_length)
        elif config.student == BILSTM:
            student = bilstm_student(
                teacher, config.lstm_units or 150, config.embedding_size, sequence_length=training.sequence_length
            )
        else:
            settings = {name: value for name, value in teacher.head_config().items() if value is not None}
            longest = max_sequence_length(read_config(resolve(config.student or "")))
            settings["sequence_length"] = training.sequence_length or min(teacher.sequence_length, longest)
            student = type(teacher).from_pretrained(config.student or "", new_head=training.new_head, **settings)
    return teacher, student


def _adapt_student(student: "Task", config: DistillConfig, training: TrainConfig, data: "Dataset") -> "Task":
    """Replace the student's layer norms, its dropout and its arithmetic, as the options require."""
    from kerasbert.cli.process.progress import progress
    from kerasbert.data.sampling import sample_evenly
    from kerasbert.training.distillation import no_norm_student

    if config.no_norm:
        with progress("fitting the student's scales and shifts"):
            student = no_norm_student(student, student.config.num_hidden_layers, sample_evenly(data.x, _SCALE_EXAMPLES))
    return _trainable(student, training)


def _trainable(student: "Task", training: TrainConfig) -> "Task":
    """The student with the dropout and the arithmetic of the training."""
    student = student if training.dropout is None else student.with_dropout(training.dropout)
    return student if training.precision == "float32" else student.with_precision(training.precision)
