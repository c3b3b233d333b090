"""Captures intermediate tensors of a model during a call, like forward hooks."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

# Of this thread: with distribution every replica runs in its own.
_open: ContextVar[tuple[dict[str, list], ...]] = ContextVar("captures", default=())


@contextlib.contextmanager
def captured() -> Iterator[dict[str, list]]:
    """Collect the tensors that layers pass to `capture`, also while a `tf.function` is traced.

    Yields:
        Lists in the order of the calls, by name. `encoder`: (hidden states, attention probabilities). `attention_mask`: (B, S).
        `attention`: (queries, keys, values), each (B, N, S, D), queries scaled. `norm`: (path, input, output) of a LayerNorm.
    """
    tensors: dict[str, list] = {}
    token = _open.set((*_open.get(), tensors))
    try:
        yield tensors
    finally:
        _open.reset(token)


def capture(name: str, value: Any) -> None:
    """Pass a value to every open `captured`. Without one nothing happens, and nothing is added to a graph."""
    for tensors in _open.get():
        tensors.setdefault(name, []).append(value)
