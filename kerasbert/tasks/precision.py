"""Keras' global dtype policy."""

import contextlib
from collections.abc import Iterator

import tf_keras as keras

FLOAT32 = "float32"


@contextlib.contextmanager
def float32_policy() -> Iterator[None]:
    """Make new layers compute in float32 in the block, whatever Keras' global dtype policy is."""
    policy = keras.mixed_precision.global_policy()
    if policy.name == FLOAT32:
        yield
        return
    keras.mixed_precision.set_global_policy(FLOAT32)
    try:
        yield
    finally:
        keras.mixed_precision.set_global_policy(policy)
