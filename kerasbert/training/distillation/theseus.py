"""Progressive replacement of modules: Xu et al. 2020, "BERT-of-Theseus: Compressing BERT by Progressive Module Replacing"."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.output import note
from kerasbert.encoders.replaced_blocks import replaced_blocks
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.connections import each_call
from kerasbert.layers.random_layer import RandomLayer
from kerasbert.optimizers.fit_schedule import count_batches
from kerasbert.tasks.base import Task
from kerasbert.training.distillation.dataset import same_tokenization
from kerasbert.training.distillation.objective import num_layer_calls
from kerasbert.training.distillation.student_training import LossMeans, StudentTraining
from kerasbert.training.replacement import Replacement

_BLOCKS = "encoder.layers."


class Theseus(StudentTraining):
    """Model that trains the layers of a small model, the successor, in place of groups of layers of a large one, the predecessor.

    The predecessor's layers are grouped into as many modules as the successor has layers. For each batch and module one draw decides
    whether the successor's layer takes the place of the module, with the probability of `replacement`. The loss is the task's own, on the
    labels. In the last epochs of `fit` all modules are replaced: they fine-tune the successor.

    Only the successor's layers are trained, as in the authors' program. Embeddings, pooler and head are the predecessor's and stay as they
    are; it runs without dropout. `fit` and `evaluate` take what the student's take. Scores and predictions are those of the successor
    alone, which is a task like any other.

    Args:
        student: The successor: a task of the teacher's class and width with fewer layers, as of `student_from`.
        teacher: The predecessor, a trained task in float.
        replacement: The replacement rate over the steps.
        kwargs: Arguments of `keras.Model`.

    Attributes:
        replacement: The replacement rate over the steps.
        modules: For each layer of the successor, the numbers of the predecessor's layers that it takes the place of.

    Raises:
        KerasBertError: When the successor has as many layers as the predecessor, or its parts have other shapes; or one is quantized.

    Example:
        ```python
        from kerasbert.training.distillation import Replacement, Theseus, student_from
        theseus = Theseus(student_from(task, layers=2), task, Replacement("linear", rate=0.5))
        theseus.compile(optimizer=kb.adamw(5e-4))
        theseus.fit(texts, labels, epochs=3)
        theseus.student.save_pretrained("runs/api-successor")
        ```
    """

    def __init__(self, student: Task, teacher: Task, replacement: Replacement | None = None, **kwargs: Any):
        super().__init__(student, teacher, **{"name": "theseus", **kwargs})
        if replacement is not None and not isinstance(replacement, Replacement):
            raise KerasBertError(f"expected a Replacement as replacement, received {replacement!r}; make one")
        _check_models(student, teacher)
        self.replacement = Replacement() if replacement is None else replacement
        self.student = student
        _copy_fixed_parts(teacher, student)
        self.modules = module_layers(num_layer_calls(student), num_layer_calls(teacher))
        self._modules = _Modules(student.encoder, teacher, self.modules)
        self.draws = RandomLayer(name="draws")
        none = tf.constant(0, tf.int64)
        self._first = tf.Variable(none, trainable=False)  # the optimizer's step at which `fit` began
        self._steps = tf.Variable(none, trainable=False)  # before fine-tuning
        self._slope = tf.Variable(tf.constant(0.0), trainable=False)
        self._means = LossMeans("loss", "replaced")

    @property
    def teacher(self) -> Task:
        """The predecessor."""
        return self._modules.teacher

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """The variables of the successor's layers, unless they are frozen."""
        return [variable for block in self.student.encoder.layers for variable in block.trainable_variables]

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Return the variables of the successor's layers."""
        variables = self.student.variables_by_path()
        return {path: variable for path, variable in variables.items() if path.startswith(_BLOCKS)}

    # -- one step ------------------------------------------------------------------------------------------------------------------------

    def train_step(self, data: Any) -> dict[str, Any]:
        replaced = self._draw()
        with tf.GradientTape() as tape, replaced_blocks(self.student.encoder, self._modules.drawn(replaced)):
            loss = self._loss_of_step(data, replaced, training=True)
        self.apply_loss(loss, tape, zeros=True)
        return self.get_metrics_result()

    def test_step(self, data: Any) -> dict[str, Any]:
        self._loss_of_step(data, tf.ones(len(self.modules), tf.bool), training=False)
        return self.get_metrics_result()

    def _draw(self) -> tf.Tensor:
        """Draw which modules are replaced in a step: bool (modules,)."""
        self.draws.state.assign_add([0, 1])
        uniform = tf.random.stateless_uniform([len(self.modules)], seed=self.draws.state)
        return uniform < self._rate()

    def _rate(self) -> tf.Tensor:
        """Compute the replacement rate of the step."""
        step = self.optimizer.iterations - self._first
        rate = tf.constant(self.replacement.rate, tf.float32)
        if self.replacement.kind == "linear":
            rate = tf.minimum(1.0, self._slope * tf.cast(step, tf.float32) + rate)
        return tf.where(step < self._steps, rate, 1.0)

    def _loss_of_step(self, data: Any, replaced: tf.Tensor, training: bool) -> tf.Tensor:
        """The loss of one replica's batch; updates all metrics."""
        student: Any = self.student
        data = student.masked_only(data) if hasattr(student, "masked_only") else data
        inputs, targets, weights = keras.utils.unpack_x_y_sample_weight(data)
        outputs = student(inputs, training=training)
        loss = student.compute_loss(inputs, targets, outputs, weights)
        replicas = tf.distribute.get_strategy().num_replicas_in_sync  # Keras divides a loss by their number
        self._means.update(tf.cast(loss, tf.float32) * replicas, tf.reduce_mean(tf.cast(replaced, tf.float32)))
        student.compiled_metrics.update_state(targets, outputs, weights)
        return loss

    # -- Keras' interface ----------------------------------------------------------------------------------------------------------------

    @property
    def metrics(self) -> list:
        return [*self._means.metrics, *self.student_metrics()]

    def begin_fit(self, data: tf.data.Dataset, epochs: int, start: tuple[int, int], steps: int | None) -> None:
        """Tell the learning rate and the replacement the number of steps of a `fit` that begins.

        Args:
            data: The batches of an epoch.
            epochs: The epoch to end with.
            start: The epoch to begin with, and the number of its batches to skip.
            steps: The number of steps of an epoch, if it is not that of the batches.

        Raises:
            KerasBertError: When the epochs leave none for the replacement or the fine-tuning.
        """
        replacing = self.replacement.replacing_epochs(epochs)
        super().begin_fit(data, epochs, start, steps)
        batches = steps or count_batches(data)
        self._first.assign(int(self.optimizer.iterations.numpy()) - start[0] * batches - start[1])
        self._steps.assign(replacing * batches)
        self._slope.assign(self.replacement.slope_over(replacing * batches))

    def _dataset(self, *args: Any, **kwargs: Any) -> tf.data.Dataset:
        return self.student._dataset(*args, **kwargs)


class _Modules:
    """The modules of both models. As a plain object it hides the teacher's weights from Keras."""

    def __init__(self, encoder: keras.layers.Layer, teacher: Task, layers: Sequence[Sequence[int]]):
        self.encoder, self.teacher, self.layers = encoder, teacher, layers

    def drawn(self, replaced: tf.Tensor) -> list["_Module"]:
        """Return the blocks of a step, for draws bool (modules,)."""
        old = list(each_call(self.teacher.encoder))
        return [
            _Module(block, [old[i] for i in layers], replaced[number])
            for number, (block, layers) in enumerate(zip(each_call(self.encoder), self.layers, strict=True))
        ]


class _Module:
    """A block of the successor, or the blocks of the predecessor that it replaces, as a draw decides."""

    def __init__(self, block: Any, old: Sequence[Any], replaced: tf.Tensor):
        self.block, self.old, self.replaced = block, old, replaced
        self.input_sum = block.input_sum

    def __call__(self, x: tf.Tensor, bias: tf.Tensor, training: bool | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        def before() -> tuple[tf.Tensor, tf.Tensor]:
            states, probabilities = self.old[0](x, bias, training=False)
            for block in self.old[1:]:
                states, probabilities = block(states, bias, training=False)
            dtype = self.block.compute_dtype  # the successor may compute in 16 bits
            return tf.cast(states, dtype), tf.cast(probabilities, dtype)

        return tf.cond(self.replaced, lambda: self.block(x, bias, training=training), before)


def module_layers(modules: int, layers: int) -> tuple[tuple[int, ...], ...]:
    """Return the layers of each module, from the bottom up: as many in each as possible, and more in the upper ones if they do not divide.

    Args:
        modules: The number of modules.
        layers: The number of layers.
    """
    return tuple(tuple(range(i * layers // modules, (i + 1) * layers // modules)) for i in range(modules))


def _check_models(student: Task, teacher: Task) -> None:
    for task, role in ((teacher, "predecessor"), (student, "successor")):
        if task.encoder.policy is not None:
            raise KerasBertError(
                f"expected a {role} in float, received a quantized one; quantize the successor when it is trained"
            )
    if type(student) is not type(teacher) or type(student.encoder) is not type(teacher.encoder):
        received = " and ".join(
            f"{type(task).__name__} with {type(task.encoder).__name__}" for task in (teacher, student)
        )
        raise KerasBertError(
            f"expected predecessor and successor of one task and architecture, received {received}; make the successor with student_from"
        )
    few, many = num_layer_calls(student), num_layer_calls(teacher)
    if few >= many:
        raise KerasBertError(
            f"expected a successor with fewer layers than the predecessor's {many}, received {few}; choose fewer layers"
        )
    if student.config.hidden_size != teacher.config.hidden_size:
        raise KerasBertError(
            f"expected layers of one width, received {teacher.config.hidden_size} and {student.config.hidden_size}; make the successor "
            "with student_from"
        )
    if not same_tokenization(student, teacher):
        raise KerasBertError(
            "expected predecessor and successor of one vocabulary, received two; make the successor with student_from"
        )
    if many % few:
        sizes = ", ".join(str(len(layers)) for layers in module_layers(few, many))
        note(
            f"note: the successor's {few} layers take the place of {sizes} layers of the predecessor, from the bottom up"
        )


def _copy_fixed_parts(teacher: Task, student: Task) -> None:
    """Copy all weights outside of the layers from the teacher.

    Raises:
        KerasBertError: When one has another shape.
    """
    own, others = student.variables_by_path(), teacher.variables_by_path()
    for path, variable in own.items():
        if path.startswith(_BLOCKS):
            continue
        source = others.get(path)
        if source is None or source.shape != variable.shape:
            received = "none" if source is None else f"{tuple(source.shape)}"
            raise KerasBertError(
                f"expected {path} of the predecessor in the successor's shape {tuple(variable.shape)}, received {received}; make the "
                "successor with student_from"
            )
        variable.assign(source)
