"""Suppression of messages that native code writes to stderr directly."""

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def suppress_stderr() -> Iterator[None]:
    """Hold back everything written to stderr, and show it only if the block fails.

    TensorFlow's converter and ai-edge-quantizer write there at any log level.
    """
    with tempfile.TemporaryFile() as log, contextlib.redirect_stderr(io.StringIO()) as text:
        stderr = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(stderr, 2)
            log.seek(0)
            os.write(2, log.read() + text.getvalue().encode())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
