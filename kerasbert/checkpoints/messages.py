"""One-line complaints about checkpoints, in which names and numbers of a hostile file stay short."""

import re
import reprlib
from collections.abc import Iterable, Sized

from kerasbert.errors import KerasBertError

_PLAIN_NAME = re.compile(r"[\w.\-]{1,100}")
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100
_SHORT.maxlist = 8


def shown(value: object) -> str:
    """A value as Python writes it, shortened in the middle."""
    return _SHORT.repr(value)


def mismatch(where: object, expected: str, received: str, advice: str = "") -> KerasBertError:
    """The error "where: expected ..., received ...; advice", to be raised."""
    return KerasBertError(f"{where}: expected {expected}, received {received}" + (f"; {advice}" if advice else ""))


def named(name: str) -> str:
    """A tensor's name as it is, or quoted and shortened when it is not a plain one."""
    return name if _PLAIN_NAME.fullmatch(name) else shown(name)


def first_three(names: Iterable[str]) -> str:
    """ "a, b, c and 5 more"."""
    names = list(names)
    return ", ".join(named(name) for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def counted(things: Sized, noun: str) -> str:
    """ "1 tensor", "2 tensors"."""
    return f"{len(things)} {noun}" + ("" if len(things) == 1 else "s")


def one_line(error: BaseException) -> str:
    """Another library's error: its class and the beginning of its text."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:150]
