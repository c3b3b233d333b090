"""Keras' compile with the task's own loss and metrics, and its place in a `.keras` file."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import tensorflow as tf
import tf_keras as keras

import kerasbert.optimizers.adamw  # noqa: F401  # registers its optimizer, which saved files name
from kerasbert.layers.traversal import sublayers
from kerasbert.tasks.keras3 import check_tf_keras, tf_keras_optimizer
from kerasbert.tasks.losses_on_logits import losses_on_logits
from kerasbert.tasks.metrics_on_logits import metrics_on_logits


class CompilingModel(keras.Model):
    """A Keras model with a default loss and default metrics."""

    if TYPE_CHECKING:  # Keras' own attributes, which its untyped package hides
        optimizer: Any
        trainable_variables: list[tf.Variable]

    def default_loss(self) -> Any:
        """Return the loss that `compile` takes by default, or a dict of losses by output."""
        raise NotImplementedError

    def default_metrics(self) -> Any:
        """Return the metrics that `compile` takes by default, as a list or a dict of lists by output."""
        return []

    @property
    def distribute_reduction_method(self) -> str:
        """Keras' reduction of several workers' logs. Metrics are equal on all workers; by default Keras would add them up."""
        return "first"

    def compile(self, optimizer: Any = "adam", loss: Any = None, metrics: Any = None, **kwargs: Any) -> None:
        """Configure training. An optimizer of `kb.adamw` is bound to the task's parameter groups.

        Args:
            optimizer: An optimizer of tf_keras, or of Keras 3; see `kerasbert.tasks.keras3`.
            loss: A loss; by default the task's own. Losses of Keras are computed from logits, which the task returns.
            metrics: Metrics; by default the task's own. Metrics of Keras that read probabilities are computed from those of the task.
            kwargs: Other arguments of tf_keras' `compile`.

        Raises:
            KerasBertError: When losses or metrics are of Keras 3 or do not fit the task, or tf_keras does not have the optimizer.
        """
        optimizer = tf_keras_optimizer(optimizer)
        check_tf_keras("losses", loss)
        check_tf_keras("metrics", metrics)
        loss, metrics = losses_on_logits(self, loss), metrics_on_logits(self, metrics)
        if "weighted_metrics" in kwargs:
            kwargs["weighted_metrics"] = metrics_on_logits(self, kwargs["weighted_metrics"])
        inner = getattr(optimizer, "inner_optimizer", optimizer)  # under mixed precision, inside the loss scale's
        if hasattr(inner, "bind"):
            inner.bind(self)
        super().compile(
            optimizer=optimizer, loss=self.default_loss() if loss is None else loss,
            metrics=self.default_metrics() if metrics is None else metrics, **kwargs,
        )  # fmt: skip

    def make_train_function(self, force: bool = False) -> Any:
        """Return the function of a training step, as Keras does. The optimizer's variables exist before it is traced.

        TensorFlow traces a function twice when the first trace creates variables.

        Args:
            force: Whether to make another function where there is one.
        """
        if force or self.train_function is None:
            build_optimizer(self)
        return super().make_train_function(force)

    def get_compile_config(self) -> dict[str, Any] | None:
        """Return the arguments of `compile` and the frozen variables, for a `.keras` file."""
        config: Any = super().get_compile_config()
        frozen = frozen_paths(self)
        return {**config, "frozen": frozen} if config and frozen else config

    def compile_from_config(self, config: Mapping[str, Any]) -> None:
        """Compile a loaded task as the saved one was.

        Args:
            config: The result of `get_compile_config`.
        """
        settings = dict(config)
        freeze_paths(self, settings.pop("frozen", ()))
        self.compile(**keras.saving.deserialize_keras_object(settings))
        build_optimizer(self)


def build_optimizer(model: Any) -> None:
    """Create the variables of a compiled model's optimizer, unless they exist.

    Args:
        model: A model with `optimizer` and `trainable_variables`. Optimizers of `tf_keras.optimizers.legacy` are left as they are.
    """
    optimizer = model.optimizer
    if hasattr(optimizer, "build"):
        inner = getattr(optimizer, "inner_optimizer", optimizer)  # under mixed precision, inside the loss scale's
        with model.distribute_strategy.scope(), tf.name_scope(inner.name or "optimizer"):
            optimizer.build(model.trainable_variables)


def frozen_paths(task: keras.Model) -> list[str]:
    """Return the paths of the variables that are not trained."""
    trained = {id(variable) for variable in task.trainable_variables}
    return [path for path, variable in task.variables_by_path().items() if id(variable) not in trained]


def freeze_paths(task: keras.Model, paths: Iterable[str]) -> None:
    """Freeze the layers of the variables that `frozen_paths` returned for an equal task."""
    variables = task.variables_by_path()
    frozen = {id(variables[path]) for path in paths if path in variables}
    for layer in sublayers(task, keras.layers.Layer):
        # Not by the setter, which would also freeze the layers inside: norms beside adapters are trained.
        if any(id(variable) in frozen for variable in layer._trainable_weights):
            layer._trainable = False
