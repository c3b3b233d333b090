"""Captures tensors inside of a model while it is called, like forward hooks."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

_open: ContextVar[tuple[dict[str, list], ...]] = ContextVar(
    "captures", default=()
)  # of this thread: replicas have theirs


@contextlib.contextmanager
def captured() -> Iterator[dict[str, list]]:
    """Collects the tensors that layers `capture` while it lasts, by name, in the order of the calls; also while a `tf.function` is traced.

    `encoder`: (hidden states, attention probabilities) of each call of an encoder; `attention_mask`: its mask. `attention`: (queries, keys,
    values) of each attention, (B, N, S, D), queries scaled already. `norm`: (path, input, output) of each layer norm.
    """
    found: dict[str, list] = {}
    token = _open.set((*_open.get(), found))
    try:
        yield found
    finally:
        _open.reset(token)


def capture(name: str, value: Any) -> None:
    """Hands a value to those who capture now; without any, nothing happens, and nothing is in the graph."""
    for found in _open.get():
        found.setdefault(name, []).append(value)
