"""Objects of Keras 3 (`keras`, `tf.keras`) in place of those of tf_keras: optimizers are converted, other objects rejected."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import tf_keras

from kerasbert.errors import KerasBertError

# With the same config their updates are the same in both libraries: tests/tasks/test_keras3.py runs them side by side.
_OPTIMIZERS = ("Adadelta", "Adagrad", "Adam", "Adamax", "AdamW", "Ftrl", "Lion", "Nadam", "RMSprop", "SGD")
_SCHEDULES = (
    "CosineDecay", "CosineDecayRestarts", "ExponentialDecay", "InverseTimeDecay", "PiecewiseConstantDecay", "PolynomialDecay",
)  # fmt: skip
# Settings that tf_keras does not have, or that have another meaning there; with these values they have no effect.
_NEUTRAL = {"loss_scale_factor": None, "gradient_accumulation_steps": None, "use_ema": False}
_ADVICE = "this package is built on tf_keras: write `import tf_keras as keras`"


def tf_keras_optimizer(optimizer: Any) -> Any:
    """Convert an optimizer of Keras 3 to tf_keras's with the same settings.

    Updates from dense gradients are the same in both. The gradient of a token table is sparse: tf_keras first sums the rows of a token, as
    the formulas demand. Keras 3 does not, so its updates differ from its own ones from the same gradient in dense form.

    Args:
        optimizer: An optimizer of Keras 3. Anything else is returned as it is.

    Raises:
        KerasBertError: When tf_keras does not have the optimizer, its schedule or a setting, or the optimizer has been used.
    """
    if not _is_keras3(optimizer, "optimizers", "Optimizer"):
        return optimizer
    name = type(optimizer).__name__
    if name not in _OPTIMIZERS or type(optimizer) is not getattr(sys.modules["keras"].optimizers, name):
        raise _rejection("an optimizer", optimizer)
    if int(optimizer.iterations) > 0:
        raise KerasBertError(
            f"expected a new optimizer, received {name} of Keras 3 after {int(optimizer.iterations)} steps; {_ADVICE}"
        )
    config = optimizer.get_config()
    wrong = [setting for setting, value in _NEUTRAL.items() if config.pop(setting, value) != value]
    if any(getattr(optimizer, f"_exclude_from_weight_decay{end}", None) for end in ("", "_pattern")):
        wrong.append("exclude_from_weight_decay")
    if wrong:
        raise KerasBertError(
            f"expected {name} of Keras 3 without {wrong[0]}, which tf_keras does not have, received it; {_ADVICE}"
        )
    config["learning_rate"] = _convert_rate(config["learning_rate"])
    return getattr(tf_keras.optimizers, name).from_config(config)


def check_tf_keras(what: str, objects: Any) -> None:
    """Check that no loss, metric or callback is of Keras 3.

    Args:
        what: "losses", "metrics" or "callbacks".
        objects: The objects, nested in lists or dicts.

    Raises:
        KerasBertError: When one is of Keras 3.
    """
    base = {"losses": "Loss", "metrics": "Metric", "callbacks": "Callback"}[what]
    for each in _flat(objects):
        if _is_keras3(each, what, base):
            raise _rejection(f"{what} of tf_keras", each)


def _convert_rate(rate: Any) -> Any:
    """Convert the learning rate of a config: a number, or the config of a schedule."""
    if not isinstance(rate, Mapping):
        return rate
    name = rate.get("class_name")
    if name not in _SCHEDULES or rate.get("registered_name") is not None:
        raise KerasBertError(
            f"expected a learning rate schedule of {', '.join(_SCHEDULES)}, received {name} of Keras 3; {_ADVICE}"
        )
    return getattr(tf_keras.optimizers.schedules, name).from_config(rate["config"])


def _is_keras3(value: Any, module: str, base: str) -> bool:
    """Tell whether an object is an instance of a class of Keras 3, without importing Keras 3."""
    keras = sys.modules.get("keras")
    kind = getattr(getattr(keras, module, None), base, None)
    return isinstance(kind, type) and isinstance(value, kind) and not type(value).__module__.startswith("tf_keras.")


def _rejection(expected: str, received: Any) -> KerasBertError:
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
