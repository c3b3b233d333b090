"""What a user reads when a command ends early: one line and an exit code."""

import errno
import os

from kerasbert.cli.common.flags import unknown_option
from kerasbert.errors import KerasBertError

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130
_DEBUG_HINT = "run again with --debug for the traceback"


class Interrupted(Exception):
    """Ctrl-C during a command; the message says what became of its output."""


def explain(error: BaseException) -> tuple[str, int]:
    """One line about an exception, and the exit code it stands for."""
    if isinstance(error, Interrupted):
        return str(error), INTERRUPTED
    line, code = _explained(error)
    return f"error: {' '.join(line.split())}", code


def _explained(error: BaseException) -> tuple[str, int]:
    name = type(error).__name__
    if _disk_full(error):
        return f"the disk is full ({error}); free some space, or write somewhere else", FAILURE
    if isinstance(error, KerasBertError):
        return str(error), BAD_INPUT
    if hasattr(error, "format_message"):  # the command line itself: an unknown option, a missing argument
        command = getattr(getattr(error, "ctx", None), "command_path", "kerasbert")
        told = unknown_option(error) or error.format_message().rstrip(".")
        return f"{told}{'' if told.endswith('?') else '.'} See `{command} --help`.", BAD_INPUT
    if isinstance(error, MemoryError):
        return "there is not enough memory; try a smaller --batch-size, or a smaller model", FAILURE
    if name == "ResourceExhaustedError":  # TensorFlow's; not imported for its name's sake
        return f"TensorFlow ran out of memory or disk ({error}); try a smaller --batch-size", FAILURE
    if isinstance(error, OSError):
        told = _told(error)
        if told:
            return told, FAILURE
    return f"{name}: {error}; {_DEBUG_HINT}", FAILURE


def _told(error: OSError) -> str | None:
    """The few things that go wrong with files, in words; None for what is none of them."""
    where = f" {os.fspath(error.filename)!r}" if isinstance(error.filename, str | os.PathLike) else ""
    if isinstance(error, FileNotFoundError):
        return f"there is no file or folder{where}"
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"no permission for{where or ' a file'}; check who owns it, or write somewhere else"
    return None


def _disk_full(error: BaseException) -> bool:
    """Whether it, or what it was raised from, says so; libraries in other languages say it in their text only."""
    seen = error
    while seen is not None:
        if (
            isinstance(seen, OSError)
            and seen.errno in (errno.ENOSPC, errno.EDQUOT)
            or os.strerror(errno.ENOSPC) in str(seen)
        ):
            return True
        seen = seen.__cause__
    return False
