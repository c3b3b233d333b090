"""Messages for commands that fail: one line and an exit code."""

import errno
import os
from typing import Any

from kerasbert.cli.arguments.flags import describe_unknown_option
from kerasbert.errors import KerasBertError

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130
_DEBUG_HINT = "run again with --debug for the traceback"


class Interrupted(Exception):
    """Ctrl-C during a command. The message describes the state of its output."""


def explain(error: BaseException) -> tuple[str, int]:
    """Return one line about an exception, and the exit code for it.

    Args:
        error: The exception.
    """
    if isinstance(error, Interrupted):
        return str(error), INTERRUPTED
    line, code = _explain(error)
    return f"error: {' '.join(line.split())}", code


def _explain(error: Any) -> tuple[str, int]:
    name = type(error).__name__
    if _disk_full(error):
        return f"the disk is full ({error}); free some space, or write to another disk", FAILURE
    if isinstance(error, KerasBertError):
        return str(error), BAD_INPUT
    if hasattr(error, "format_message"):  # the command line itself: an unknown option, a missing argument
        command = getattr(getattr(error, "ctx", None), "command_path", "kerasbert")
        message = describe_unknown_option(error) or error.format_message().rstrip(".")
        return f"{message}{'' if message.endswith('?') else '.'} See `{command} --help`.", BAD_INPUT
    if isinstance(error, MemoryError):
        return "there is not enough memory; try a smaller --batch-size, or a smaller model", FAILURE
    if name == "ResourceExhaustedError":  # TensorFlow's; its class is not imported for this check
        return f"TensorFlow ran out of memory or disk ({error}); try a smaller --batch-size", FAILURE
    if isinstance(error, OSError):
        message = _file_error(error)
        if message:
            return message, FAILURE
    return f"{name}: {error}; {_DEBUG_HINT}", FAILURE


def _file_error(error: OSError) -> str | None:
    """Return a message for common file errors, else None."""
    where = f" {os.fspath(error.filename)!r}" if isinstance(error.filename, str | os.PathLike) else ""
    if isinstance(error, FileNotFoundError):
        return f"there is no file or folder{where}"
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"no permission for{where or ' a file'}; check its owner and mode, or write to another folder"
    return None


def _disk_full(error: BaseException) -> bool:
    """Return True if the error or one of its causes is a full disk. Native libraries report it in their message only."""
    current: BaseException | None = error
    while current is not None:
        full = isinstance(current, OSError) and current.errno in (errno.ENOSPC, errno.EDQUOT)
        if full or os.strerror(errno.ENOSPC) in str(current):
            return True
        current = current.__cause__
    return False
