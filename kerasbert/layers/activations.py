"""The activation functions that Hugging Face configs name."""

import tensorflow as tf


def gelu(x):
    """Gaussian error linear unit, exact (Hendrycks & Gimpel 2016)."""
    return tf.nn.gelu(x, approximate=False)


def gelu_new(x):
    """Its tanh approximation, as in the original BERT code."""
    return tf.nn.gelu(x, approximate=True)


ACTIVATIONS = {"gelu": gelu, "gelu_new": gelu_new, "gelu_pytorch_tanh": gelu_new, "relu": tf.nn.relu}


def activation(name: str):
    """The function of that name. Raises ValueError for a name that no encoder here uses."""
    if name not in ACTIVATIONS:
        raise ValueError(f"expected an activation of {sorted(ACTIVATIONS)}, received {name!r}")
    return ACTIVATIONS[name]


def flat_below(function) -> float | None:
    """Where an activation has gone flat: below this input it changes by less than 2e-4 (GELU at -4), or not at all (ReLU at 0).

    An 8-bit range needs to reach no further, and BERT's Dense layers before GELU go down to -30.
    """
    return {gelu: -4.0, gelu_new: -4.0, tf.nn.relu: 0.0}.get(function)
