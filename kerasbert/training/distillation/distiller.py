"""Training of a student towards a teacher by a sum of objectives."""

import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.training.distillation.cache import TYPES
from kerasbert.training.distillation.dataset import DistillationDataset, same_tokenization
from kerasbert.training.distillation.forward_features import forward_features
from kerasbert.training.distillation.objective import Objective
from kerasbert.training.distillation.student_training import LossMeans, StudentTraining
from kerasbert.training.distillation.teacher import TeacherRunner
from kerasbert.values import Rule

LABEL_WEIGHT = 0.5  # the default with labels


class Distiller(StudentTraining):
    """Model that trains `student` towards `teacher`.

    The loss is `label_weight` times the student's own loss plus the weighted losses of all objectives. `fit` and `evaluate` take what the
    student's take. Examples whose label is None learn from the teacher alone. With a `label_weight` of 0 the student learns from the
    teacher alone. The teacher runs without dropout and is not trained. Neither the teacher nor learned projections of objectives are saved
    with the student. Other attributes of a task that a training needs (`score`, `predict`, `predictions`, `save_pretrained`) are the
    student's. After the training the student is a task like any other.

    Args:
        student: The task to train.
        teacher: A task that may have another architecture, depth and width, as far as the objectives allow.
        objectives: Objectives of `kerasbert.training.distillation`.
        label_weight: Factor of the student's own loss. None is 0.5 for data with labels, and 0 for data without.
        cache: A folder for the teacher's tensors of the training data, which are then computed once. The data must be the same in every
            epoch: no masked words, no `tf.data.Dataset`.
        cache_type: Type of the cached tensors: `float32`, or `float16` for half the size.
        kwargs: Arguments of `keras.Model`.

    Attributes:
        labels_paused: Whether the student's own loss counts as 0; a change takes effect at the next `compile`.
        projections: The learned projections of all objectives.

    Raises:
        KerasBertError: When an objective cannot compare the two models or compares tokens across vocabularies, or all weights are 0.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, HiddenStates, SoftLabels, student_from
        student = student_from(task, layers=2)
        distiller = Distiller(student, task, [SoftLabels(temperature=2.0), HiddenStates()], label_weight=0.5)
        distiller.compile(optimizer=kb.adamw(5e-4))
        distiller.fit(texts, labels)
        student.save_pretrained("runs/api-student")
        ```
    """

    def __init__(
        self,
        student: Task,
        teacher: Task,
        objectives: Sequence[Objective],
        label_weight: float | None = None,
        cache: str | os.PathLike | None = None,
        cache_type: str = "float32",
        **kwargs: Any,
    ):
        super().__init__(student, teacher, **{"name": "distiller", **kwargs})
        self._needs_labels = label_weight is not None
        label_weight = LABEL_WEIGHT if label_weight is None else label_weight
        _check_weights(objectives, label_weight)
        if cache_type not in TYPES:
            raise KerasBertError(f"expected a cache_type of {', '.join(TYPES)}, received {cache_type!r}")
        self.label_weight, self.labels_paused = float(label_weight), False
        _check_layers(student, teacher, objectives)
        bound = [objective.bind_copy(student, teacher) for objective in objectives]
        _check_tokenization(student, teacher, bound)
        _copy_thresholds(teacher, student)
        self.student = student
        self.projections = [projection for objective in bound for projection in objective.projections]
        self._teacher = TeacherRunner(teacher, bound)
        names = [objective.name for objective in bound]
        self._means = LossMeans("loss", *(["label_loss"] if label_weight else ()), *names)
        key = {} if cache is None else {"parts": sorted(self._teacher.names())}
        self._distillation_dataset = DistillationDataset(student, teacher, self._teacher.arrays, key, cache, cache_type)

    @property
    def teacher(self) -> Task:
        """The teacher."""
        return self._teacher.model

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Copies of the given objectives, bound to both models."""
        return self._teacher.objectives

    @property
    def learns_labels(self) -> bool:
        """True while the student's own loss counts: not with a `label_weight` of 0, and not in `progressive_stages`."""
        return self.label_weight > 0 and not self.labels_paused

    # -- one step ------------------------------------------------------------------------------------------------------------------------

    def _step_loss(self, data: Any, training: bool) -> tf.Tensor:
        """The loss of one replica's batch; updates all metrics."""
        x, targets, weights = keras.utils.unpack_x_y_sample_weight(data)
        inputs, labelled = x["student"], x.get("labelled")
        if labelled is not None:
            weights = labelled if weights is None else weights * labelled
        if isinstance(self.student, MaskedLM) and targets is not None:
            inputs, targets, weights = self.student.masked_only((inputs, targets, weights))
        student = forward_features(self.student, inputs, training)
        teacher_targets = x.get("cached") or {
            name: tensor.values for name, tensor in self._teacher.tensors(x.get("teacher", inputs)).items()
        }
        losses = [
            tf.zeros(()) if objective.paused else objective.loss(student, teacher_targets)
            for objective in self.objectives
        ]
        terms = [objective.weight * loss for objective, loss in zip(self.objectives, losses, strict=True)]
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        if (
            self.learns_labels and targets is not None
        ):  # Keras divides a loss by the number of replicas, since their gradients are summed
            label_loss: Any = self.student.compute_loss(inputs, targets, student.outputs, weights)
            losses.insert(0, tf.cast(label_loss, tf.float32) * replicas)
            terms.append(self.label_weight * losses[0])
        elif self.label_weight:
            losses.insert(0, tf.zeros(()))
        total = tf.add_n(terms)
        self._means.update(total, *losses)
        if targets is not None:
            compiled_metrics: Any = self.student.compiled_metrics
            measured = (targets, student.outputs, weights)
            compiled_metrics.update_state(*(measured if labelled is None else self._of_labelled(measured, labelled)))
        return total / replicas

    def _of_labelled(self, measured: tuple, labelled: tf.Tensor) -> tuple:
        """The parts of the rows with labels."""
        if self.jit_compile:
            raise KerasBertError("expected labels for all rows with XLA, received some without; leave --jit out")
        rows = tf.where(labelled > 0)[:, 0]
        return tuple(tf.nest.map_structure(lambda each: tf.gather(each, rows), part) for part in measured)

    # -- Keras' interface ----------------------------------------------------------------------------------------------------------------

    @property
    def metrics(self) -> list:
        return [*self._means.metrics, *self.student_metrics()]

    def _dataset(
        self,
        x: Any,
        y: Any,
        batch_size: int,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int = 0,
        start: tuple[int, int] | None = None,
    ) -> tf.data.Dataset:
        # `fit` passes `start` for training data only; validation data are not cached.
        return self._distillation_dataset.batches(
            x,
            y,
            batch_size,
            labelled=self.learns_labels and self._needs_labels,
            cached=shuffle or start is not None,
            weights=sample_weight,
            shuffle=shuffle,
            seed=seed,
            start=start or (0, 0),
        )

    def further_variables(self) -> dict[str, tf.Variable]:
        # The projections have the head's learning rate.
        return {f"projections.{i}.kernel": projection.kernel for i, projection in enumerate(self.projections)}


def _copy_thresholds(teacher: Task, student: Task) -> None:
    """Copy the threshold for unanswerable questions to a question answerer without one, and the fallback to such a classifier."""
    if getattr(student, "fallback", "") is None and getattr(teacher, "fallback", None) is not None:
        student.fallback, student.fallback_below = teacher.fallback, teacher.fallback_below
    if getattr(student, "no_answer", False) is None and getattr(teacher, "no_answer", None) is not None:
        student.no_answer, student.no_answer_threshold = teacher.no_answer, teacher.no_answer_threshold


def _check_weights(objectives: Sequence[Objective], label_weight: float) -> None:
    if (
        isinstance(objectives, Objective)
        or not objectives
        or not all(isinstance(objective, Objective) for objective in objectives)
    ):
        raise KerasBertError(f"expected objectives as a list of Objective, one or more, received {objectives!r}")
    Rule(float, at_least=0).check(label_weight, "a label_weight")
    if not label_weight and not any(objective.weight for objective in objectives):
        raise KerasBertError(
            "expected a weight above 0 of an objective or the labels, received none: nothing would be learned"
        )


def _check_layers(student: Task, teacher: Task, objectives: Sequence[Objective]) -> None:
    compared = [type(objective).__name__ for objective in objectives if not objective.heads]
    others = [type(task.encoder).__name__ for task in (student, teacher) if not task.encoder.is_transformer]
    if compared and others:
        raise KerasBertError(
            f"expected two transformers for {', '.join(compared)}, received a {others[0]}, which has no such layers; SoftLabels compares "
            "outputs alone"
        )


def _check_tokenization(student: Task, teacher: Task, objectives: Sequence[Objective]) -> None:
    compared = [type(objective).__name__ for objective in objectives if objective.per_token]
    if not same_tokenization(student, teacher):
        if compared:
            raise KerasBertError(
                f"expected one vocabulary of student and teacher for {', '.join(compared)}, which compare tokens, received two; give the "
                "teacher the student's with `kerasbert prune --vocabulary-of`, or choose SoftLabels of whole texts or PatientStates"
            )
    elif teacher.config.longest < student.sequence_length:
        raise KerasBertError(
            f"expected a teacher that reads the student's {student.sequence_length} tokens (sequence_length), received one with "
            f"{teacher.config.longest} positions; set a shorter sequence_length of the student"
        )
