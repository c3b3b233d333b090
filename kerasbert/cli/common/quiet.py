"""Keeps the log lines of TensorFlow, absl, Keras and LiteRT away from a user who did not ask for them."""

import contextlib
import faulthandler
import logging
import os
import sys
import warnings
from collections.abc import Iterator

_STDERR = 2
# A tqdm bar that waits for eleven days is never shown; TQDM_DISABLE is only a default, which ai-edge-quantizer overrides.
# TensorFlow imports a Keras as `tf.keras`: the one that models here are made of, and not Keras 3 beside it, with scikit-learn and SciPy.
_SETTINGS = {"TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_minloglevel": "3", "TQDM_DELAY": "1e6"}


@contextlib.contextmanager
def quiet_libraries(show: bool, log: int | None = None) -> Iterator[None]:
    """While it lasts, only this package writes to stderr; with `show` nothing is held back."""
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
    """C++ writes to file descriptor 2 before any log level is read, so that descriptor leads to `log`, or nowhere; `sys.stderr` keeps the
    real one."""
    if not _is_descriptor_2(sys.stderr):  # captured by a caller: nothing of ours
        yield
        return
    before = sys.stderr
    before.flush()
    kept = os.dup(_STDERR)
    if log is None:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), _STDERR)
    else:
        os.dup2(log, _STDERR)
    sys.stderr = open(kept, "w", buffering=1, encoding=before.encoding, errors="backslashreplace", closefd=False)
    # A crash in C++ must not be silent: whoever gave the log says it.
    faulthandler.enable(sys.stderr if log is None else log)
    try:
        yield
    finally:
        sys.stderr.flush()
        faulthandler.disable()
        sys.stderr = before
        os.dup2(kept, _STDERR)


def _is_descriptor_2(stream) -> bool:
    try:
        return stream.fileno() == _STDERR
    except (AttributeError, OSError, ValueError):
        return False
