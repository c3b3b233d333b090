"""The task that a user names for a folder: `task=` of `load_task`, and `--task` of the commands."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from kerasbert.errors import KerasBertError
from kerasbert.processors.registry import TASK_NAMES, train_tasks
from kerasbert.suggestions import nearest

_PRETRAINING = ("Pretrainer", "ReplacedTokenDetector")  # without a processor
_requested: ContextVar["RequestedTask | None"] = ContextVar("kerasbert_requested_task", default=None)


@dataclass(frozen=True)
class RequestedTask:
    """A task by its names.

    Attributes:
        name: The name of its class.
        processor: The name of its processor; None if the folder decides, or the task has none.
    """

    name: str
    processor: str | None

    @classmethod
    def of(cls, name: str) -> "RequestedTask":
        """Return the task of a name of `kerasbert train --task`, or of a class.

        Args:
            name: Such as `masked-lm` or `MaskedLM`.

        Raises:
            KerasBertError: When there is no such task.
        """
        commands = train_tasks()
        if name in commands:
            return cls(*commands[name])
        if name in TASK_NAMES or name in _PRETRAINING:
            return cls(name, TASK_NAMES[name].processor if name in TASK_NAMES else None)
        similar = nearest(str(name), sorted(commands))
        raise KerasBertError(
            f"expected a task among {', '.join(commands)}, received {str(name)[:100]!r}; "
            + (f"did you mean {similar!r}?" if similar else "use one of them")
        )

    @property
    def settings(self) -> dict[str, str]:
        """The arguments of the task's class that the name implies."""
        chosen = self.name in TASK_NAMES and TASK_NAMES[self.name].processor is None and self.processor is not None
        return {"problem": str(self.processor)} if chosen else {}


@contextlib.contextmanager
def requesting_task(name: str | None) -> Iterator[None]:
    """Load folders as this task while the block runs, where the call of `load_task` names none.

    Args:
        name: The name; None for the task that the folder names.

    Raises:
        KerasBertError: When there is no such task.
    """
    token = _requested.set(None if name is None else RequestedTask.of(name))
    try:
        yield
    finally:
        _requested.reset(token)


def requested_task() -> RequestedTask | None:
    """Return the task of the `requesting_task` block, or None."""
    return _requested.get()
