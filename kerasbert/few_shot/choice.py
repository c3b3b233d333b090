"""What is chosen by cross-validation on a few examples: the method, and the scale of its logits."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kerasbert.few_shot.linear import centres, logistic
from kerasbert.processors.few_shot import Linear

STRENGTH = 10.0  # of logistic regression: the weight of the examples against the size of the layer
_FOLDS, _FEWER_FOLDS, _MANY_ROWS = 5, 3, 1000
_SCALES = 2.0 ** np.arange(-3, 4.01, 0.125)  # of logits, from an eighth to 16
_SMALLEST = 1e-30  # probability
_COARSE = 1e-1  # precision in a fold: decisions do not depend on more


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of examples that were not taught, by cross-validation.

    Attributes:
        rows: The rows of the examples, rising: those whose class has two or more.
        probabilities: Of each method `(rows, classes)`.
        accuracy: Of each method.
    """

    rows: np.ndarray
    probabilities: Mapping[str, np.ndarray]
    accuracy: Mapping[str, float]


def layer(method: str, vectors: np.ndarray, classes: np.ndarray, count: int, coarse: bool = False) -> Linear:
    """Return the layer of a method.

    Args:
        method: One of `kerasbert.processors.few_shot.METHODS`.
        vectors: Vectors of length 1, `(rows, width)`.
        classes: The class of each row, from 0 to below `count`; each class has a row.
        count: The number of classes.
        coarse: Whether a layer with nearly the same decisions is enough.
    """
    if method == "centre":
        return centres(vectors, classes, count)
    return logistic(vectors, classes, count, STRENGTH, **({"precision": _COARSE} if coarse else {}))


def held_out(methods: tuple[str, ...], vectors: np.ndarray, classes: np.ndarray, count: int) -> HeldOut | None:
    """Predict each example by layers that did not see it.

    The examples of a class are dealt to five folds in turn, or to three where there are more than 1,000. A class of one example is always
    taught.

    Args:
        methods: The methods.
        vectors: Vectors of length 1, `(rows, width)`.
        classes: The class of each row.
        count: The number of classes.

    Returns:
        The predictions; None where no class has two examples.
    """
    folds = _FOLDS if len(classes) <= _MANY_ROWS else _FEWER_FOLDS
    fold = dealt(classes, count, folds)
    rows = np.flatnonzero(fold >= 0)
    if not len(rows):
        return None
    found = {method: np.zeros((len(classes), count), np.float32) for method in methods}
    for number in range(folds):
        out = fold == number
        for method in methods if out.any() else ():
            found[method][out] = layer(method, vectors[~out], classes[~out], count, coarse=True).probabilities(
                vectors[out]
            )
    probabilities = {method: values[rows] for method, values in found.items()}
    accuracy = {
        method: float(np.mean(values.argmax(axis=1) == classes[rows])) for method, values in probabilities.items()
    }
    return HeldOut(rows, probabilities, accuracy)


def dealt(classes: np.ndarray, count: int, folds: int) -> np.ndarray:
    """Deal the examples of each class to the folds in turn.

    Args:
        classes: The class of each row, from 0 to below `count`.
        count: The number of classes.
        folds: The number of folds.

    Returns:
        The fold of each row; -1 for a class of one row, which is in none.
    """
    fold = np.full(len(classes), -1)
    for number in range(count):
        rows = np.flatnonzero(classes == number)
        if len(rows) > 1:
            fold[rows] = np.arange(len(rows)) % folds
    return fold


@dataclass(frozen=True, eq=False)
class Choice:
    """The layer that was chosen.

    Attributes:
        linear: The layer, its logits scaled.
        method: One of `kerasbert.processors.few_shot.METHODS`, or `TRAINED`.
        accuracy: Of each method that was compared, by cross-validation; empty where no class has two examples.
        held_out: The scaled probabilities of examples that were not taught; None where no class has two.
        held_out_classes: The classes of these.
    """

    linear: Linear
    method: str
    accuracy: Mapping[str, float]
    held_out: np.ndarray | None
    held_out_classes: np.ndarray | None


def choose(methods: tuple[str, ...], vectors: np.ndarray, classes: np.ndarray, count: int) -> Choice:
    """Choose a method by cross-validation, and the scale of its logits. The clients in Kotlin and JavaScript do the same.

    Args:
        methods: The methods to compare. Of equally good ones the last is taken; without two examples of a class the first.
        vectors: Vectors of length 1, `(rows, width)`.
        classes: The class of each row, from 0 to below `count`; each class has a row.
        count: The number of classes.
    """
    tried = held_out(methods, vectors, classes, count)
    if tried is None:
        return Choice(layer(methods[0], vectors, classes, count), methods[0], {}, None, None)
    method = max(reversed(methods), key=tried.accuracy.__getitem__)
    found, truth = tried.probabilities[method], classes[tried.rows]
    return scaled_choice(layer(method, vectors, classes, count), method, tried.accuracy, found, truth)


def scaled_choice(
    linear: Linear, method: str, accuracy: Mapping[str, float], found: np.ndarray, truth: np.ndarray
) -> Choice:
    """Return a layer whose probabilities are as right as they say.

    Args:
        linear: The layer.
        method: How it was found.
        accuracy: Of each method that was compared.
        found: Probabilities of examples that were not taught, `(rows, classes)`.
        truth: Their classes.
    """
    factor = scale_of(found, truth)
    linear = Linear(linear.kernel * np.float32(factor), linear.bias * np.float32(factor))
    return Choice(linear, method, dict(accuracy), scaled(found, factor), truth)


def scale_of(probabilities: np.ndarray, classes: np.ndarray) -> float:
    """Choose the factor of the logits with which the probabilities are most right: temperature scaling (Guo et al. 2017).

    Few rows may all be right by chance: as Platt (1999, "Probabilistic outputs for support vector machines") has it, their classes count
    as a little less than certain.

    Args:
        probabilities: Of examples that were not taught, `(rows, classes)`.
        classes: Their classes.

    Returns:
        The factor with the smallest mean cross-entropy. Decisions do not depend on it.
    """
    rows, count = probabilities.shape
    doubt = 1 / (rows + 2)
    targets = np.full((rows, count), doubt / (count - 1))
    targets[np.arange(rows), classes] = 1 - doubt
    losses = [-np.sum(targets * np.log(scaled(probabilities, factor) + _SMALLEST)) for factor in _SCALES]
    return float(_SCALES[int(np.argmin(losses))])


def scaled(probabilities: np.ndarray, factor: float) -> np.ndarray:
    """Return the probabilities that the logits times a factor have, `(rows, classes)`."""
    logits = np.log(np.maximum(probabilities.astype(np.float64), _SMALLEST))
    shares = np.exp(factor * (logits - logits.max(axis=1, keepdims=True)))
    return shares / shares.sum(axis=1, keepdims=True)
