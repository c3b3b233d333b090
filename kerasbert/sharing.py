"""State that threads share and forked processes must not use: a lock, a value for each process, and objects that a fork keeps."""

import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kerasbert.errors import KerasBertError

ValueT = TypeVar("ValueT")


class ThreadLock:
    """A lock that one thread holds at a time: `with lock.held`.

    A fork renews the lock: the thread that held it does not exist in the new process.

    Args:
        purpose: What the lock is for, in a message.
        nested: Whether the thread that holds the lock may take it again.
    """

    def __init__(self, purpose: str, nested: bool = False):
        self._purpose, self._nested = purpose, nested
        self._renew()
        _LOCKS.add(self)

    @property
    def held(self) -> Any:
        """The lock itself, for a `with` statement.

        Raises:
            KerasBertError: When this thread holds it, as a signal handler may find it. Waiting would never end.
        """
        if not self._nested and self._lock._is_owned():
            raise KerasBertError(
                f"expected one call of {self._purpose} at a time, received another from the same thread before its end; call it later"
            )
        return self._lock

    def __reduce__(self) -> tuple:
        return ThreadLock, (self._purpose, self._nested)

    def _renew(self) -> None:
        self._lock: Any = threading.RLock()  # of C, whose `with` a KeyboardInterrupt cannot leave locked


class PerProcess(Generic[ValueT]):
    """A value that is made at its first use, and once more in each forked process.

    Args:
        purpose: What the value is, in a message.
    """

    def __init__(self, purpose: str):
        self._lock = ThreadLock(purpose)
        self._made: tuple[int, ValueT] | None = None

    def get(self, make: Callable[[], ValueT]) -> ValueT:
        """Return the value of this process.

        Args:
            make: Makes the value.
        """
        made = self._made
        if made is None or made[0] != os.getpid():
            with self._lock.held:
                made = self._made
                if made is None or made[0] != os.getpid():
                    self._made = made = (os.getpid(), make())
        return made[1]


def keep_in_forks(resource: Any) -> None:
    """Never delete an object in a process that is forked from this one.

    The threads of a runtime do not exist in a forked process. A runtime that ends waits for them, or crashes.
    """
    _KEPT.add(resource)


_LOCKS: weakref.WeakSet[ThreadLock] = weakref.WeakSet()
_KEPT: weakref.WeakSet[Any] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in _LOCKS:
        lock._renew()
    for resource in _KEPT:
        ctypes.pythonapi.Py_IncRef(
            ctypes.py_object(resource)
        )  # never released, so not at the end of the process either
    _KEPT.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
