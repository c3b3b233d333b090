"""Suppresses the logs of TensorFlow, absl, Keras and LiteRT."""

import contextlib
import faulthandler
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from typing import TextIO

_STDERR = 2
# A tqdm bar with a delay of eleven days is never shown. ai-edge-quantizer overrides TQDM_DISABLE.
# TF_USE_LEGACY_KERAS: `tf.keras` is then tf_keras, the Keras of our models. Keras 3 would also import scikit-learn and SciPy.
_SETTINGS = {"TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_minloglevel": "3", "TQDM_DELAY": "1e6"}


@contextlib.contextmanager
def quiet_libraries(show: bool, log: int | None = None) -> Iterator[None]:
    """Let only this package write to stderr in the block.

    Args:
        show: Whether to suppress nothing.
        log: The file descriptor that receives the output of native code; None discards it.
    """
    if show:
        yield
        return
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    for name in ("tensorflow", "absl", "h5py", "jax"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings(), _native_stderr_closed(log):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _native_stderr_closed(log: int | None) -> Iterator[None]:
    """Redirect file descriptor 2, to which C++ writes before it reads a log level. `sys.stderr` keeps the original one."""
    if not _is_descriptor_2(sys.stderr):  # a caller has captured it
        yield
        return
    original = sys.stderr
    original.flush()
    duplicate = os.dup(_STDERR)
    if log is None:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), _STDERR)
    else:
        os.dup2(log, _STDERR)
    sys.stderr = open(duplicate, "w", buffering=1, encoding=original.encoding, errors="backslashreplace", closefd=False)
    # The supervising process reports a crash in C++ from the log.
    faulthandler.enable(sys.stderr if log is None else log)
    try:
        yield
    finally:
        sys.stderr.flush()
        faulthandler.disable()
        sys.stderr = original
        os.dup2(duplicate, _STDERR)


def _is_descriptor_2(stream: TextIO) -> bool:
    try:
        return stream.fileno() == _STDERR
    except (AttributeError, OSError, ValueError):
        return False
