"""The base of models that train a student with the help of a teacher."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.sharing import ThreadLock
from kerasbert.tasks.base import Task
from kerasbert.tasks.keras3 import tf_keras_optimizer
from kerasbert.tasks.keras_task import KerasTask

_STUDENT_ATTRIBUTES = frozenset(
    "config encode_labels encoder features labels output_name predictions processor recommended save_pretrained score sequence_length "
    "serve tokenizer unserved".split()
)


class StudentTraining(KerasTask):
    """A model that trains `student`, and stands in for it: attributes that a training needs are the student's.

    A subclass computes the loss of a step. After the training the student is a task like any other.

    Args:
        student: The task to train.
        teacher: The task that it learns from. Its weights are none of this model's, unless the subclass trains them.
        kwargs: Arguments of `keras.Model`.

    Attributes:
        student: The task that is trained.

    Raises:
        KerasBertError: When student and teacher are one model.

    Example:
        ```python
        from kerasbert.training.distillation import StudentTraining, Theseus, student_from
        isinstance(Theseus(student_from(task, layers=2), task), StudentTraining)  # True
        ```
    """

    student: Task

    def __init__(self, student: Task, teacher: Task, **kwargs: Any):
        super().__init__(**kwargs)
        self._compiled_lock = ThreadLock(f"fit or evaluate of {type(self).__name__}", nested=True)
        if student is teacher:
            raise KerasBertError("expected a student and a teacher, received one model as both; load the teacher again")
        self.built = True  # variables exist since construction

    def further_variables(self) -> dict[str, tf.Variable]:
        """Return the variables that are trained beside the student's, by path."""
        return {}

    def compile(self, optimizer: Any = "adam", loss: Any = None, metrics: Any = None, **kwargs: Any) -> None:
        """Configure training, as Keras does.

        Args:
            optimizer: An optimizer of tf_keras or Keras 3, or its name.
            loss: The student's loss; None takes the student's own.
            metrics: The student's metrics; None takes the student's own.
            kwargs: Other arguments of tf_keras' `compile`.
        """
        optimizer = tf_keras_optimizer(optimizer)
        student_options = {"loss_weights": kwargs.pop("loss_weights")} if "loss_weights" in kwargs else {}
        if "jit_compile" in kwargs:  # the student's batches are then padded to fewer lengths
            student_options["jit_compile"] = kwargs["jit_compile"]
        self.student.compile(optimizer="sgd", loss=loss, metrics=metrics, **student_options)
        keras.Model.compile(self, optimizer=optimizer, **kwargs)
        self.student.optimizer = self.optimizer  # bound to this model below, which may have more variables
        inner = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        if hasattr(inner, "bind"):
            inner.bind(self)

    def train_step(self, data: Any) -> dict[str, Any]:
        with tf.GradientTape() as tape:
            loss = self._step_loss(data, training=True)
        self.apply_loss(loss, tape)
        return self.get_metrics_result()

    def test_step(self, data: Any) -> dict[str, Any]:
        self._step_loss(data, training=False)
        return self.get_metrics_result()

    def _step_loss(self, data: Any, training: bool) -> tf.Tensor:
        """Compute the loss of one replica's batch, and update all metrics. A subclass with steps of its own has none."""
        raise NotImplementedError

    def apply_loss(self, loss: tf.Tensor, tape: tf.GradientTape, zeros: bool = False) -> None:
        """Train the variables that a loss reaches.

        Args:
            loss: The loss, a scalar.
            tape: The tape that recorded it.
            zeros: Whether variables that it does not reach have gradients of 0, which move them by their moments. Otherwise they have
                none, as a head without labels.
        """
        pairs = self.optimizer.compute_gradients(loss, self.trainable_variables, tape=tape)
        if zeros:
            pairs = [(tf.zeros_like(variable) if each is None else each, variable) for each, variable in pairs]
        self.optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        return self.student(inputs, training=training)

    def student_metrics(self) -> list[keras.metrics.Metric]:
        """Return the compiled metrics of the student."""
        compiled: Any = getattr(self.student, "compiled_metrics", None)
        return compiled.metrics if compiled is not None else []

    def predict(self, x: Any, batch_size: int | None = None, verbose: Any = 0, **kwargs: Any) -> Any:
        """Predict with the student.

        Args:
            x: Examples as the student takes them.
            batch_size: Rows in a batch; by default 32.
            verbose: As in Keras.
            kwargs: Other arguments of the student's `predict`.

        Returns:
            The student's predictions.
        """
        return self.student.predict(x, batch_size, verbose, **kwargs)

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Return the student's variables, and those that are trained beside them."""
        return {**self.student.variables_by_path(), **self.further_variables()}

    def __getattr__(self, name: str) -> Any:
        if name in _STUDENT_ATTRIBUTES:
            return getattr(self.student, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class LossMeans:
    """Metrics of the loss and its terms. As a plain object it hides their variables from Keras' weights.

    Args:
        names: Their names. One that occurs again gets a number.
    """

    def __init__(self, *names: str):
        numbered = [name if (n := names[:i].count(name)) == 0 else f"{name}_{n + 1}" for i, name in enumerate(names)]
        self.metrics = [keras.metrics.Mean(name) for name in numbered]

    def update(self, *values: tf.Tensor) -> None:
        """Add the values of a step.

        Args:
            values: The values, in the order of `metrics`.
        """
        for metric, value in zip(self.metrics, values, strict=True):
            metric.update_state(value)
