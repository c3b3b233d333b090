"""The arithmetic that layers compute in: Keras' dtype policies."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError

FLOAT32 = "float32"
POLICIES = {FLOAT32: FLOAT32, "bfloat16": "mixed_bfloat16"}  # by precision; weights stay in float32


@contextlib.contextmanager
def dtype_policy(precision: str) -> Iterator[None]:
    """Make new layers compute in a precision in the block, whatever Keras' global dtype policy is.

    Args:
        precision: `float32` or `bfloat16`.

    Raises:
        KerasBertError: When the processor does not compute in it.
    """
    check_precision(precision)
    policy, name = keras.mixed_precision.global_policy(), POLICIES[precision]
    if policy.name == name:
        yield
        return
    keras.mixed_precision.set_global_policy(name)
    try:
        yield
    finally:
        keras.mixed_precision.set_global_policy(policy)


def check_precision(precision: str) -> None:
    """Check that the processor computes in a precision.

    Args:
        precision: `float32` or `bfloat16`.

    Raises:
        KerasBertError: When it does not: the arithmetic would be slower than float32.
    """
    if precision == FLOAT32 or tf.config.list_physical_devices("GPU"):
        return
    try:
        flags = Path("/proc/cpuinfo").read_text("ascii", "replace")
    except OSError:
        return  # another system, which does not say
    if not any(flag in flags for flag in ("avx512_bf16", "amx_bf16", "avx_ne_convert", " bf16")):
        raise KerasBertError(
            "expected a processor with bfloat16 (AVX512_BF16, AMX or a GPU) for --precision bfloat16, received one without; leave it out"
        )
