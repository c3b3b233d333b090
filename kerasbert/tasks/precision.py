"""The arithmetic that layers compute in: Keras' dtype policies."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError

FLOAT32 = "float32"
POLICIES = {FLOAT32: FLOAT32, "bfloat16": "mixed_bfloat16"}  # by precision; weights stay in float32
_CHANGED = threading.RLock()  # while the policy, which all threads share, is another one


@contextlib.contextmanager
def dtype_policy(precision: str) -> Iterator[None]:
    """Make new layers compute in a precision in the block, whatever Keras' global dtype policy is.

    Args:
        precision: `float32` or `bfloat16`.

    Raises:
        KerasBertError: When there is no such precision, or the processor does not compute in it.
    """
    check_precision(precision)
    with _CHANGED:
        policy = keras.mixed_precision.global_policy()
        if policy.name != POLICIES[precision]:
            keras.mixed_precision.set_global_policy(POLICIES[precision])
            try:
                yield
            finally:
                keras.mixed_precision.set_global_policy(policy)
            return
    yield


def check_precision(precision: str) -> None:
    """Check that the processor computes in a precision.

    Args:
        precision: `float32` or `bfloat16`.

    Raises:
        KerasBertError: When it is another one, or the processor does not: the arithmetic would be slower than float32.
    """
    if not isinstance(precision, str) or precision not in POLICIES:
        raise KerasBertError(f"expected a precision of {', '.join(POLICIES)}, received {precision!r}")
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
