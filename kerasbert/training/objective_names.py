"""Distillation objectives in the notation of the command line, `soft-labels=1,hidden=0.5`. Needs no TensorFlow."""

import math

from kerasbert.errors import KerasBertError

NAMES = ("soft-labels", "logits", "cosine", "hidden", "patient", "attention", "relations", "features")


def objective_weights(text: str) -> dict[str, float]:
    """Parse the weight of each objective. A name without a weight has the weight 1.

    Args:
        text: NAME=WEIGHT pairs, separated by commas.

    Raises:
        KerasBertError: When a name is unknown or occurs twice, or a weight is not a finite number of at least 0.
    """
    weights: dict[str, float] = {}
    for word in text.split(","):
        name, separator, weight = (part.strip() for part in word.partition("="))
        if name not in NAMES:
            raise KerasBertError(f"expected objectives of {', '.join(NAMES)}, received {name!r}")
        if name in weights:
            raise KerasBertError(f"expected each objective once, received {name} twice; keep one")
        try:
            weights[name] = float(weight) if separator else 1.0
        except ValueError:
            weights[name] = math.nan
        if not 0 <= weights[name] < math.inf:
            raise KerasBertError(
                f"expected objectives as NAME=WEIGHT with weights of at least 0, such as soft-labels=0.5, received {word!r}"
            )
    return weights
