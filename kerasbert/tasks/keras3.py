"""Objects of Keras 3 (`keras`, `tf.keras`) where those of tf_keras belong: optimizers are taken over, of others it is said."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import tf_keras

from kerasbert.errors import KerasBertError

# Whose updates are the same in both, by their configs: tests/tasks/test_keras3.py runs them side by side.
_OPTIMIZERS = ("Adadelta", "Adagrad", "Adam", "Adamax", "AdamW", "Ftrl", "Lion", "Nadam", "RMSprop", "SGD")
_SCHEDULES = (
    "CosineDecay", "CosineDecayRestarts", "ExponentialDecay", "InverseTimeDecay", "PiecewiseConstantDecay", "PolynomialDecay",
)  # fmt: skip
# Settings that tf_keras does not have, or has another meaning for; with these values they change nothing.
_WITHOUT = {"loss_scale_factor": None, "gradient_accumulation_steps": None, "use_ema": False}
_ADVICE = "this package is built on tf_keras: write `import tf_keras as keras`"


def tf_keras_optimizer(optimizer: Any) -> Any:
    """An optimizer of Keras 3 as tf_keras's with the same settings, whose updates are the same; anything else as it is.

    The same as Keras 3's of dense gradients. Of a word table's, which are rows by word, tf_keras adds up the rows of a word first, as the
    formulas say; Keras 3 does not, so that its own updates differ from those it makes of the same gradient written densely.

    Raises KerasBertError for an optimizer, a schedule or a setting that tf_keras does not have, and for one that has been used.
    """
    if not _is_of_keras3(optimizer, "optimizers", "Optimizer"):
        return optimizer
    name = type(optimizer).__name__
    if name not in _OPTIMIZERS or type(optimizer) is not getattr(sys.modules["keras"].optimizers, name):
        raise _refused("an optimizer", optimizer)
    if int(optimizer.iterations) > 0:
        raise KerasBertError(
            f"expected a new optimizer, received {name} of Keras 3 after {int(optimizer.iterations)} steps; {_ADVICE}"
        )
    config = optimizer.get_config()
    wrong = [setting for setting, value in _WITHOUT.items() if config.pop(setting, value) != value]
    if any(getattr(optimizer, f"_exclude_from_weight_decay{end}", None) for end in ("", "_pattern")):
        wrong.append("exclude_from_weight_decay")
    if wrong:
        raise KerasBertError(
            f"expected {name} of Keras 3 without {wrong[0]}, which tf_keras does not have, received it; {_ADVICE}"
        )
    config["learning_rate"] = _rate(config["learning_rate"])
    return getattr(tf_keras.optimizers, name).from_config(config)


def check_tf_keras(what: str, objects: Any) -> None:
    """Raises KerasBertError for a loss, metric or callback of Keras 3 among some. what: "losses", "metrics" or "callbacks"."""
    base = {"losses": "Loss", "metrics": "Metric", "callbacks": "Callback"}[what]
    for each in _flat(objects):
        if _is_of_keras3(each, what, base):
            raise _refused(f"{what} of tf_keras", each)


def _rate(rate: Any) -> Any:
    """A learning rate of a config: a number, or a schedule by its own config."""
    if not isinstance(rate, Mapping):
        return rate
    name = rate.get("class_name")
    if name not in _SCHEDULES or rate.get("registered_name") is not None:
        raise KerasBertError(
            f"expected a learning rate schedule of {', '.join(_SCHEDULES)}, received {name} of Keras 3; {_ADVICE}"
        )
    return getattr(tf_keras.optimizers.schedules, name).from_config(rate["config"])


def _is_of_keras3(thing: Any, module: str, base: str) -> bool:
    """Keras 3 is not imported to know: without it nothing is of it."""
    keras = sys.modules.get("keras")
    kind = getattr(getattr(keras, module, None), base, None)
    return isinstance(kind, type) and isinstance(thing, kind) and not type(thing).__module__.startswith("tf_keras.")


def _refused(expected: str, received: Any) -> KerasBertError:
    kind = type(received)
    return KerasBertError(
        f"expected {expected}, received {kind.__module__.partition('.')[0]}'s {kind.__name__} of Keras 3; {_ADVICE}"
    )


def _flat(objects: Any) -> Iterable:
    if isinstance(objects, Mapping):
        objects = objects.values()
    if isinstance(objects, list | tuple) or not isinstance(objects, str | type(None)) and hasattr(objects, "__iter__"):
        for each in objects:
            yield from _flat(each)
    else:
        yield objects
