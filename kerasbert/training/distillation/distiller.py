"""A student trained towards a teacher, by named objectives, in one step."""

from collections.abc import Sequence

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.tasks import MaskedLM
from kerasbert.tasks.keras3 import tf_keras_optimizer
from kerasbert.tasks.keras_task import KerasTask
from kerasbert.tasks.masked_lm import masked_only
from kerasbert.training.distillation.cache import TYPES
from kerasbert.training.distillation.feeding import Feeder, same_tokens
from kerasbert.training.distillation.objective import Objective
from kerasbert.training.distillation.observation import Part, observe


class Distiller(KerasTask):
    """Trains `student` to do as `teacher` does; afterwards the student is a task like any other.

    The loss is `label_weight` times the student's own one plus each objective's times its weight. `fit` and `evaluate` take what the
    student's do; without labels (or with a label_weight of 0) the student learns from the teacher alone. The teacher is never trained, runs
    without dropout, and is not saved with the student; nor are the projections that some objectives learn. Whatever a task can do that a
    run asks for (`score`, `predict`, `answer`, `save_pretrained`), the student does.

    Args:
      student, teacher: tasks. They may differ in architecture, depth and width, as far as objectives allow.
      objectives: of `kerasbert.training.distillation`.
      label_weight: how much the labels count.
      cache: a folder for what the teacher says of each row of the training data, which is then computed once. For data that stays the
        same from epoch to epoch: no masked words, no `tf.data.Dataset`.
      cache_type: float32, or float16, which takes half of the room.

    Raises:
      KerasBertError: objectives that cannot compare these two models; tokens compared across vocabularies; weights that are all 0.
    """

    def __init__(
        self,
        student,
        teacher,
        objectives: Sequence[Objective],
        label_weight: float = 0.0,
        cache=None,
        cache_type: str = "float32",
        **kwargs,
    ):
        super().__init__(**{"name": "distiller", **kwargs})
        _check_weights(objectives, label_weight)
        if cache_type not in TYPES:
            raise KerasBertError(f"expected a cache_type of {', '.join(TYPES)}, received {cache_type!r}")
        if student is teacher:
            raise KerasBertError("expected a student and a teacher, received one model as both")
        self.label_weight, self.labels_paused = float(label_weight), False
        bound = [objective.bound(student, teacher) for objective in objectives]
        _check_tokens(student, teacher, bound)
        if getattr(student, "no_answer", False) is None:
            student.no_answer = getattr(teacher, "no_answer", None)
        self.student = student
        self.projections = [projection for objective in bound for projection in objective.projections]
        self._hidden = _Hidden(teacher, bound, bool(label_weight))
        key = {} if cache is None else {"parts": sorted(self._wanted_names())}
        self._feeder = Feeder(student, teacher, self._parts_of, key, cache, cache_type)
        self.built = True  # variables exist since construction

    @property
    def teacher(self):
        return self._hidden.teacher

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Copies of those it was made with, which know both models."""
        return self._hidden.objectives

    @property
    def learns_labels(self) -> bool:
        """Whether labels count now: not with a label_weight of 0, and not in `progressive_stages`."""
        return self.label_weight > 0 and not self.labels_paused

    # -- one step ------------------------------------------------------------------------------------------------------------------------

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self._loss_of(data, training=True)
        with tf.init_scope():
            self.optimizer.build(self.trainable_variables)
        # What no objective reaches (a head without labels) has no gradient, and stays as it is.
        pairs = self.optimizer.compute_gradients(loss, self.trainable_variables, tape=tape)
        self.optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])
        return self.get_metrics_result()

    def test_step(self, data):
        self._loss_of(data, training=False)
        return self.get_metrics_result()

    def _loss_of(self, data, training: bool) -> tf.Tensor:
        read, targets, weights = keras.utils.unpack_x_y_sample_weight(data)
        inputs = read["student"]
        if isinstance(self.student, MaskedLM) and targets is not None:
            inputs, targets, weights = masked_only((inputs, targets, weights))
        student = observe(self.student, inputs, training)
        wanted = read.get("known") or {
            name: part.values for name, part in self._parts(read.get("teacher", inputs)).items()
        }
        values = [
            tf.zeros(()) if objective.paused else objective.loss(student, wanted) for objective in self.objectives
        ]
        terms = [objective.weight * value for objective, value in zip(self.objectives, values, strict=True)]
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        if self.learns_labels:  # Keras gives each replica its share of a loss, since gradients are added up
            share = self.student.compute_loss(inputs, targets, student.outputs, weights)
            values.insert(0, tf.cast(share, tf.float32) * replicas)
            terms.append(self.label_weight * values[0])
        elif self.label_weight:
            values.insert(0, tf.zeros(()))
        loss = tf.add_n(terms)
        for mean, value in zip(self._hidden.means, [loss, *values], strict=True):
            mean.update_state(value)
        if targets is not None:
            self.student.compiled_metrics.update_state(targets, student.outputs, weights)
        return loss / replicas

    def _parts(self, inputs) -> dict[str, Part]:
        """What the objectives want of the teacher."""
        seen = observe(
            self.teacher, inputs, training=False, outputs=any(objective.heads for objective in self.objectives)
        )
        found: dict[str, Part] = {}
        for objective in self.objectives:
            found |= objective.wanted(seen)
        return {name: Part(tf.stop_gradient(part.values), part.token_axes) for name, part in found.items()}

    def _parts_of(self, inputs):
        """The same as arrays, outside of a training step."""
        if self._hidden.traced is None:
            axes: dict[str, tuple[int, ...]] = {}

            def compute(inputs):
                found = self._parts(inputs)
                axes.update({name: part.token_axes for name, part in found.items()})
                return {name: part.values for name, part in found.items()}

            shape = (None,) * len(inputs["input_ids"].shape)
            spec = {name: tf.TensorSpec(shape, tf.int32) for name in INPUT_NAMES}
            self._hidden.traced = tf.function(compute, input_signature=[spec], autograph=False), axes
        traced, axes = self._hidden.traced
        return {name: (values.numpy(), axes[name]) for name, values in traced(inputs).items()}

    def _wanted_names(self) -> list[str]:
        shape = (1, 1, 4) if self.teacher.grouped else (1, 4)
        return list(self._parts({name: tf.ones(shape, tf.int32) for name in INPUT_NAMES}))

    # -- Keras' ways ---------------------------------------------------------------------------------------------------------------------

    def compile(self, optimizer="adam", loss=None, metrics=None, **kwargs):
        """Keras' compile; loss and metrics are the student's, and its own by default."""
        optimizer = tf_keras_optimizer(optimizer)
        of_student = {"loss_weights": kwargs.pop("loss_weights")} if "loss_weights" in kwargs else {}
        if "jit_compile" in kwargs:  # the student's batches are padded to fewer lengths for it
            of_student["jit_compile"] = kwargs["jit_compile"]
        self.student.compile(optimizer="sgd", loss=loss, metrics=metrics, **of_student)
        keras.Model.compile(self, optimizer=optimizer, **kwargs)
        self.student.optimizer = self.optimizer  # which knows the projections too, so it is bound here alone
        inner = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        if hasattr(inner, "bind"):
            inner.bind(self)

    def call(self, inputs, training=None):
        return self.student(inputs, training=training)

    @property
    def metrics(self):
        compiled = getattr(self.student, "compiled_metrics", None)
        return [*self._hidden.means, *(compiled.metrics if compiled is not None else [])]

    def _dataset(self, x, y, batch_size, shuffle=False, sample_weight=None, seed=0, start=None):
        # `fit` gives a start for the data that it trains on alone: what is seen once needs no cache.
        return self._feeder.dataset(
            x,
            y,
            batch_size,
            labelled=self.learns_labels,
            cached=shuffle or start is not None,
            weights=sample_weight,
            shuffle=shuffle,
            seed=seed,
            start=start or (0, 0),
        )

    def predict(self, x, batch_size=None, verbose=0, **kwargs):
        """The student's."""
        return self.student.predict(x, batch_size, verbose, **kwargs)

    # -- as a task where a run or an optimizer asks for one --------------------------------------------------------------------------------

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """The student's, and the projections, which learn at the head's rate."""
        found = {f"projections.{i}.kernel": projection.kernel for i, projection in enumerate(self.projections)}
        return {**self.student.variables_by_path(), **found}

    def __getattr__(self, name: str):
        if name in _OF_THE_STUDENT:
            return getattr(self.student, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


_OF_THE_STUDENT = frozenset(
    "config encode_labels encoder features labels output_name predictions processor save_pretrained score sequence_length serve "
    "tokenizer unserved".split()
)


class _Hidden:
    """Holds what is no part of the model where Keras does not look for weights: teacher, objectives, the means of their losses."""

    def __init__(self, teacher, objectives: Sequence[Objective], labels: bool):
        self.teacher, self.objectives, self.traced = teacher, tuple(objectives), None
        names = [objective.name for objective in objectives]
        names = [name if (n := names[:i].count(name)) == 0 else f"{name}_{n + 1}" for i, name in enumerate(names)]
        self.means = [keras.metrics.Mean(name) for name in ("loss", *(["label_loss"] if labels else ()), *names)]


def _check_weights(objectives: Sequence[Objective], label_weight: float) -> None:
    if (
        isinstance(objectives, Objective)
        or not objectives
        or not all(isinstance(item, Objective) for item in objectives)
    ):
        raise KerasBertError(f"expected objectives as a list of Objective, one or more, received {objectives!r}")
    number = isinstance(label_weight, int | float) and not isinstance(label_weight, bool)
    if not number or not 0 <= label_weight < float("inf"):
        raise KerasBertError(f"expected a label_weight of at least 0, received {label_weight!r}")
    if not label_weight and not any(objective.weight for objective in objectives):
        raise KerasBertError(
            "expected a weight above 0 of an objective or the labels, received none: nothing would be learned"
        )


def _check_tokens(student, teacher, objectives: Sequence[Objective]) -> None:
    compared = [type(objective).__name__ for objective in objectives if objective.per_token]
    if not same_tokens(student, teacher):
        if compared:
            raise KerasBertError(
                f"expected one vocabulary of student and teacher for {', '.join(compared)}, which compare tokens, received two; SoftLabels "
                "of whole texts and PatientStates work across vocabularies"
            )
    elif teacher.config.longest < student.sequence_length:
        raise KerasBertError(
            f"expected a teacher that reads the student's {student.sequence_length} tokens (sequence_length), received one with "
            f"{teacher.config.longest} positions"
        )
