"""The settings of question answering with which a command opens the reference of a validation, in place of the folder's."""

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, Any] = MappingProxyType({})
_requested: ContextVar[Mapping[str, Any]] = ContextVar("kerasbert_requested_answers", default=_NONE)


@contextlib.contextmanager
def requesting_answers(settings: Mapping[str, Any]) -> Iterator[None]:
    """Open references that answer questions with these settings while the block runs.

    Args:
        settings: Settings of `QuestionAnswering` by name.
    """
    token = _requested.set(settings)
    try:
        yield
    finally:
        _requested.reset(token)


def requested_answers() -> Mapping[str, Any]:
    """Return the settings of the `requesting_answers` block; none outside of one."""
    return _requested.get()
