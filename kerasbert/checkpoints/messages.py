"""One-line errors about checkpoints, in which names and numbers of a hostile file stay short."""

import re
from collections.abc import Iterable, Sized

from kerasbert.errors import KerasBertError
from kerasbert.values import short_repr

_PLAIN_NAME = re.compile(r"[\w.\-]{1,100}")


def mismatch(where: object, expected: str, received: str, advice: str = "") -> KerasBertError:
    """Return the error "where: expected ..., received ...; advice" for the caller to raise."""
    return KerasBertError(f"{where}: expected {expected}, received {received}" + (f"; {advice}" if advice else ""))


def with_advice(error: KerasBertError, advice: str) -> KerasBertError:
    """Return an error with further advice at its end."""
    return KerasBertError(f"{error}; {advice}")


def display_name(name: str) -> str:
    """Return a tensor's name, quoted and shortened unless it is a plain one."""
    return name if _PLAIN_NAME.fullmatch(name) else short_repr(name)


def first_three(names: Iterable[str]) -> str:
    """Format names as "a, b, c and 5 more"."""
    names = list(names)
    return ", ".join(display_name(name) for name in names[:3]) + (
        f" and {len(names) - 3} more" if len(names) > 3 else ""
    )


def pluralize(items: Sized, noun: str) -> str:
    """Format a count of items as "1 tensor" or "2 tensors"."""
    return f"{len(items)} {noun}" + ("" if len(items) == 1 else "s")


def one_line(error: BaseException) -> str:
    """Format another library's error: its class and the start of its message."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:150]
