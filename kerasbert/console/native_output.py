"""Holding back what native code writes past Python's logging."""

import contextlib
import io
import os
import tempfile


@contextlib.contextmanager
def quiet():
    """Converter and quantizer write to stderr whatever the log level; this holds it back, and shows it if the block fails."""
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
