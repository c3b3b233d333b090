"""What a command asks of the models that it loads: their task (`--task`), and the settings of the answers of a validation's reference."""

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from kerasbert.errors import KerasBertError
from kerasbert.processors.registry import TASK_NAMES, train_tasks
from kerasbert.suggestions import nearest

_task: ContextVar["RequestedTask | None"] = ContextVar("kerasbert_requested_task", default=None)
_answers: ContextVar[Mapping[str, Any] | None] = ContextVar("kerasbert_requested_answers", default=None)
ValueT = TypeVar("ValueT")


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
        if name in TASK_NAMES:
            return cls(name, TASK_NAMES[name].processor)
        similar = nearest(str(name), sorted(commands))
        raise KerasBertError(
            f"expected a task among {', '.join(commands)}, received {str(name)[:100]!r}; "
            + (f"did you mean {similar!r}?" if similar else "use one of them")
        )

    @property
    def settings(self) -> dict[str, str]:
        """The arguments of the task's class that the name implies."""
        chosen = TASK_NAMES[self.name].processor is None and self.processor is not None
        return {"problem": str(self.processor)} if chosen else {}


def requesting_task(name: str | None) -> contextlib.AbstractContextManager[None]:
    """Load folders as this task while the block runs, where the call of `load_task` names none.

    Args:
        name: The name; None for the task that the folder names.

    Raises:
        KerasBertError: When there is no such task.
    """
    return _requesting(_task, None if name is None else RequestedTask.of(name))


def requested_task() -> RequestedTask | None:
    """Return the task of the `requesting_task` block, or None."""
    return _task.get()


def requesting_answers(settings: Mapping[str, Any]) -> contextlib.AbstractContextManager[None]:
    """Open references that answer questions with these settings while the block runs.

    Args:
        settings: Settings of `QuestionAnswering` by name, in place of the folder's.
    """
    return _requesting(_answers, settings)


def requested_answers() -> Mapping[str, Any]:
    """Return the settings of the `requesting_answers` block; none outside of one."""
    return _answers.get() or {}


@contextlib.contextmanager
def _requesting(variable: ContextVar[ValueT], value: ValueT) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
