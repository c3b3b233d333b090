"""Keras' losses on what a task returns: logits of classes, logits of labels, or numbers. Losses of probabilities are adapted or refused."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.losses.classes import CrossEntropy, class_probabilities
from kerasbert.processors import IGNORED

# What a task returns, by its `soft_loss`.
CLASSES, LABELS, VALUES = "logits of one class", "logits of several labels", "numbers"
_RETURNED = {"softmax": CLASSES, "token_softmax": CLASSES, "sigmoid": LABELS, "squared_error": VALUES}

# What losses of tf_keras 2.21 are for. All others compare numbers.
_COMPARED = {
    "SparseCategoricalCrossentropy": CLASSES, "CategoricalCrossentropy": CLASSES, "CategoricalFocalCrossentropy": CLASSES,
    "BinaryCrossentropy": LABELS, "BinaryFocalCrossentropy": LABELS,
}  # fmt: skip
# They compare probabilities or signs, which a task does not return.
_REFUSED = ("KLDivergence", "Poisson", "Hinge", "SquaredHinge", "CategoricalHinge")
_LOSSES = {
    name: each
    for name, each in vars(keras.losses).items()
    if isinstance(each, type) and issubclass(each, keras.losses.Loss) and each is not keras.losses.Loss
}
_BY_FUNCTION = {getattr(each(), "fn"): name for name, each in _LOSSES.items()}  # noqa: B009 (Keras' base class has no types)


@keras.utils.register_keras_serializable("kerasbert")
class FocalCrossEntropy(keras.losses.CategoricalFocalCrossentropy):
    """Keras' focal loss over classes, for labels as class numbers as well."""

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        return super().call(class_probabilities(y_true, y_pred), y_pred)


def returned_by(task: Any) -> str:
    """Return what a task returns for the loss: `CLASSES`, `LABELS` or `VALUES`."""
    return _RETURNED[task.soft_loss]


def is_of_keras(loss: Any) -> bool:
    """Tell whether an object is a loss of tf_keras itself, and not of a class of kerasbert or the user."""
    return _keras_name(loss, _LOSSES) is not None


def losses_on_logits(task: Any, loss: Any) -> Any:
    """Return a loss of Keras as one that is computed from what the task returns, and print a note where it was adapted.

    Args:
        task: The task.
        loss: A loss, its name, or lists or dicts of them by output. A loss that is not Keras' own is returned as it is.

    Raises:
        KerasBertError: When the loss is unknown, or cannot be computed from what the task returns.
    """
    if isinstance(loss, Mapping):
        return {name: losses_on_logits(task, each) for name, each in loss.items()}
    if isinstance(loss, list | tuple):
        return [losses_on_logits(task, each) for each in loss]
    if isinstance(loss, str):
        return _named(task, loss)
    if isinstance(loss, type):
        raise KerasBertError(f"expected a loss, received the class {loss.__name__}; call it: {loss.__name__}(...)")
    if loss is not None and not callable(loss):
        raise KerasBertError(f"expected a loss or the name of one, received {loss!r}; leave it out for the task's own")
    try:
        name = _BY_FUNCTION.get(loss)
    except TypeError:  # not hashable, so no function
        name = None
    if name is not None:
        return _adapted(task, _LOSSES[name](), str(getattr(loss, "__name__", name)))
    return _adapted(task, loss, type(loss).__name__)


def _named(task: Any, name: str) -> Any:
    try:
        found = keras.losses.get(name)
    except (ValueError, TypeError) as error:
        raise KerasBertError(
            f"expected a loss of tf_keras, received {name!r}; leave it out for the task's own"
        ) from error
    instance = _LOSSES[_BY_FUNCTION[found]]() if found in _BY_FUNCTION else found
    return _adapted(task, instance, name)


def _adapted(task: Any, loss: Any, name: str) -> Any:
    kind = _keras_name(loss, _LOSSES)
    if kind is None:
        return loss
    returned = returned_by(task)
    if kind in _REFUSED or _COMPARED.get(kind, VALUES) != returned:
        raise KerasBertError(
            f"expected a loss for {type(task).__name__}, which returns {returned}, received {name}; leave it out for the task's own"
        )
    if kind == "CosineSimilarity" and task.processor.compared_as == "regression":
        raise KerasBertError(f"expected a loss of single numbers, received {name}; leave it out for the task's own")
    if returned == VALUES:
        return loss
    if returned == LABELS and task.per_token:  # some tokens have no label
        note(f"note: {name} is that of {type(task).__name__}: over logits, and tokens with a label")
        return task.default_loss()
    settings = loss.get_config()
    if settings.get("axis", -1) != -1:
        raise KerasBertError(f"expected {name} over the last axis, received axis={settings['axis']}; leave axis out")
    if not settings["from_logits"]:
        note(f"note: {name} is computed with from_logits=True: {type(task).__name__} returns logits")
    return _from_logits(kind, type(loss), settings, task.per_token and task.labelled)


def _from_logits(kind: str, loss_class: type, settings: dict[str, Any], tagged: bool) -> Any:
    common = {"name": settings["name"], "reduction": settings["reduction"]}
    if kind == "CategoricalCrossentropy":
        return CrossEntropy(settings["label_smoothing"], **common)
    if kind == "CategoricalFocalCrossentropy":
        loss_class = FocalCrossEntropy
    if kind == "SparseCategoricalCrossentropy" and tagged and settings["ignore_class"] is None:
        settings["ignore_class"] = IGNORED
    settings.pop("fn", None)
    return loss_class(**{**settings, "from_logits": True})


def _keras_name(value: Any, classes: Mapping[str, type]) -> str | None:
    """Return the name of Keras' class of an object; None for an object of another library or a class derived by the user."""
    name = type(value).__name__
    return name if classes.get(name) is type(value) else None
