"""Keras' metrics on what a task returns: metrics of probabilities are computed from a softmax or a sigmoid, or refused."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.losses.classes import are_probabilities, class_numbers, class_probabilities
from kerasbert.processors import IGNORED
from kerasbert.tasks.losses_on_logits import CLASSES, LABELS, VALUES, returned_by

# Metrics of tf_keras 2.21, by the labels that they compare with. Those that are not listed are refused.
_DECISIONS = ("AUC", "Precision", "Recall", "TruePositives", "TrueNegatives", "FalsePositives", "FalseNegatives", "PrecisionAtRecall",
    "RecallAtPrecision", "SensitivityAtSpecificity", "SpecificityAtSensitivity")  # fmt: skip
_BINARY = ("BinaryAccuracy", "BinaryCrossentropy", "BinaryIoU")  # two classes
_NUMBERED = ("SparseCategoricalAccuracy", "SparseTopKCategoricalAccuracy", "SparseCategoricalCrossentropy")
_ONE_HOT = (
    "CategoricalAccuracy", "TopKCategoricalAccuracy", "CategoricalCrossentropy", "F1Score", "FBetaScore", "OneHotIoU", "OneHotMeanIoU",
)  # fmt: skip
_OF_LABELS = (*_DECISIONS, *_BINARY, "F1Score", "FBetaScore")
_OF_VALUES = (
    "MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError",
    "LogCoshError", "R2Score", "CosineSimilarity", "MeanRelativeError",
)  # fmt: skip
_METRICS = {
    name: each
    for name, each in vars(keras.metrics).items()
    if isinstance(each, type) and issubclass(each, keras.metrics.Metric)
}
_GENERAL = {"Metric", "MeanMetricWrapper"}  # classes for metrics of the user's own
_FUNCTIONS = {  # functions of keras.metrics whose metric has another name than theirs without underscores
    "top_k_categorical_accuracy": "TopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy": "SparseTopKCategoricalAccuracy",
    "kl_divergence": "KLDivergence", "log_cosh": "LogCoshError",
}  # fmt: skip
_ACCURACY, _CROSS_ENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")  # names that Keras resolves by shapes


@keras.utils.register_keras_serializable("kerasbert")
class OfProbabilities(keras.metrics.Metric):
    """A metric of Keras that reads probabilities, computed from logits.

    Args:
        metric: The metric.
        returned: What the task returns; see `kerasbert.tasks.losses_on_logits.returned_by`.
        numbered: Whether the metric takes labels as class numbers.
        one_class: Whether the metric reads the second of two classes alone.
        name: The name, by default that of the metric.
        kwargs (Any): Arguments of `keras.metrics.Metric`.
    """

    def __init__(
        self,
        metric: Any,
        returned: str,
        numbered: bool = False,
        one_class: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        metric = keras.saving.deserialize_keras_object(metric) if isinstance(metric, Mapping) else metric
        super().__init__(name=name or metric.name, **kwargs)
        self.metric, self.returned, self.numbered, self.one_class = metric, returned, numbered, one_class

    def update_state(self, y_true: tf.Tensor, y_pred: tf.Tensor, sample_weight: tf.Tensor | None = None) -> Any:
        logits = tf.cast(y_pred, tf.float32)
        if self.returned == LABELS:
            return self.metric.update_state(y_true, tf.sigmoid(logits), sample_weight)
        if logits.shape.rank > 2:  # tokens, of which some have no class
            y_true, logits, sample_weight = _labelled_rows(y_true, logits, sample_weight)
        probabilities, labels = tf.nn.softmax(logits), y_true
        if self.numbered:
            labels = class_numbers(y_true, logits)
        else:
            labels = class_probabilities(y_true, logits)
            if self.one_class and logits.shape[-1] == 2:
                labels, probabilities = (tf.split(each, 2, axis=-1)[1] for each in (labels, probabilities))
        return self.metric.update_state(labels, probabilities, sample_weight)

    def result(self) -> Any:
        return self.metric.result()

    def reset_state(self) -> None:
        self.metric.reset_state()

    def get_config(self) -> dict[str, Any]:
        settings = {"returned": self.returned, "numbered": self.numbered, "one_class": self.one_class}
        return {**super().get_config(), "metric": keras.saving.serialize_keras_object(self.metric), **settings}


def _labelled_rows(y_true: tf.Tensor, logits: tf.Tensor, sample_weight: tf.Tensor | None) -> tuple[tf.Tensor, ...]:
    """Return tokens as rows: labels `(B * S,)`, logits `(B * S, C)`, and weights that are 0 at tokens without a class."""
    rows = tf.reshape(logits, (-1, logits.shape[-1]))
    if are_probabilities(y_true, logits):
        labels, weights = tf.reshape(y_true, (-1, logits.shape[-1])), tf.ones(tf.shape(logits)[:-1])
    else:
        numbers = class_numbers(y_true, logits)
        weights = tf.cast(numbers != IGNORED, tf.float32)
        labels = tf.reshape(tf.maximum(numbers, 0), (-1,))
    if sample_weight is not None:
        given = tf.cast(sample_weight, tf.float32)
        weights *= given[:, tf.newaxis] if given.shape.rank == 1 else given
    return labels, rows, tf.reshape(weights, (-1,))


def metrics_on_logits(task: Any, metrics: Any) -> Any:
    """Return metrics of Keras as ones that read what the task returns, and print a note for each that was adapted.

    Args:
        task: The task.
        metrics: Metrics, their names, or lists or dicts of them by output. A metric that is not Keras' own is returned as it is.

    Raises:
        KerasBertError: When a metric cannot be computed from what the task returns.
    """
    if isinstance(metrics, Mapping):
        return {name: metrics_on_logits(task, each) for name, each in metrics.items()}
    if isinstance(metrics, list | tuple):
        return [metrics_on_logits(task, each) for each in metrics]
    if metrics is None:
        return None
    if isinstance(metrics, type):
        raise KerasBertError(f"expected a metric, received the class {metrics.__name__}; call it")
    if isinstance(metrics, str):
        return _named(task, metrics)
    kind = _METRICS.get(type(metrics).__name__)
    if kind is type(metrics) and type(metrics).__name__ not in _GENERAL:
        return _adapted(task, metrics, type(metrics).__name__, type(metrics).__name__)
    name = getattr(metrics, "__name__", "")
    if name and getattr(keras.metrics, name, None) is metrics:
        return _adapted(task, _METRICS[_class_name(name)](name=name), _class_name(name), name)
    return metrics


def _class_name(function: str) -> str:
    """Return the class of Keras' metric that is computed by a function of this name."""
    plain = {name.casefold(): name for name in _METRICS}
    return _FUNCTIONS.get(function) or plain.get(function.replace("_", ""), "")


def _named(task: Any, name: str) -> Any:
    returned = returned_by(task)
    if name in _ACCURACY and returned != VALUES:
        return _own_accuracy(task, name)
    if name in _CROSS_ENTROPY and returned != VALUES:
        kind = "SparseCategoricalCrossentropy" if returned == CLASSES else "BinaryCrossentropy"
        return _adapted(task, _METRICS[kind](name=name), kind, name)
    kind = _class_name(name.casefold())
    if not kind:
        found = getattr(keras.metrics, name, None)  # aliases, such as mse
        kind = _class_name(getattr(found, "__name__", ""))
    if kind in _GENERAL or not kind:
        return _registered(name)
    return _adapted(task, _METRICS[kind](name=name), kind, name)


def _registered(name: str) -> Any:
    """Return the metric that the user registered under a name."""
    try:
        found = keras.metrics.get(name)
    except (ValueError, TypeError):
        found = name
    if isinstance(found, str):
        raise KerasBertError(f"expected a metric of tf_keras, received {name!r}; leave it out for the task's own")
    return found


def _own_accuracy(task: Any, name: str) -> Any:
    """Return the task's own accuracy under the name that the user gave it."""
    own = task.default_metrics()
    own = own if isinstance(own, list) else next(iter(own.values()))
    metric = next((each for each in own if each.name.endswith("accuracy")), None)
    if metric is None:
        raise KerasBertError(
            f"expected metrics of {type(task).__name__}, received {name!r}; `score` computes the metrics of this task"
        )
    return type(metric).from_config({**metric.get_config(), "name": name})


def _adapted(task: Any, metric: Any, kind: str, name: str) -> Any:
    returned = returned_by(task)
    allowed = {
        CLASSES: (*_DECISIONS, *_BINARY, *_NUMBERED, *_ONE_HOT), LABELS: _OF_LABELS, VALUES: _OF_VALUES,
    }[returned]  # fmt: skip
    two_only = kind in _BINARY and returned == CLASSES and len(task.labels or ()) != 2
    if kind not in allowed or two_only:
        raise KerasBertError(
            f"expected a metric for {type(task).__name__}, which returns {returned}, received {name}; `score` computes the metrics of "
            "this task"
        )
    if returned == VALUES or _reads_logits(metric, kind, returned, tagged=task.per_token and task.labelled):
        return metric
    if kind == "SparseCategoricalCrossentropy" and not (task.per_token and task.labelled):
        note(f"note: metric {name} is computed with from_logits=True: {type(task).__name__} returns logits")
        settings = {key: value for key, value in metric.get_config().items() if key != "fn"}
        return type(metric)(**{**settings, "from_logits": True})
    if getattr(metric, "from_logits", False) or getattr(metric, "_fn_kwargs", {}).get("from_logits"):
        raise KerasBertError(f"expected {name} of probabilities for this task, received from_logits=True; leave it out")
    one_class = kind in (*_DECISIONS, *_BINARY)
    activation = "sigmoid" if returned == LABELS else "softmax"
    second = returned == CLASSES and one_class and len(task.labels or ()) == 2
    part = f" of {task.labels[1]!r}" if second else ""
    if kind not in _NUMBERED[:2]:
        note(f"note: metric {name} is computed from probabilities{part}, the {activation} of the task's logits")
    return OfProbabilities(metric, returned, numbered=kind in _NUMBERED, one_class=one_class)


def _reads_logits(metric: Any, kind: str, returned: str, tagged: bool) -> bool:
    """Tell whether a metric reads the task's logits as they are."""
    if returned == CLASSES:
        sparse = kind in _NUMBERED[:2]  # only the order of the outputs counts
        return not tagged and (sparse or kind == _NUMBERED[2] and metric.get_config()["from_logits"])
    settings = metric.get_config()
    if kind == "BinaryAccuracy":
        return settings["threshold"] == 0  # of logits
    return bool(settings.get("from_logits"))
