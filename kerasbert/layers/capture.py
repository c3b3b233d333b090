"""Reading tensors from inside of a model while it is called, without a word about it in what it returns."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

_open: ContextVar[tuple[dict[str, list], ...]] = ContextVar("taps", default=())  # of this thread: replicas have theirs


@contextlib.contextmanager
def tapped() -> Iterator[dict[str, list]]:
    """Collects what layers `tap` while it lasts, by name, in the order of the calls; also while a `tf.function` is traced.

    `encoder`: (hidden states, attention probabilities) of each call of an encoder; `attention_mask`: its mask. `attention`: (queries, keys,
    values) of each attention, (B, N, S, D), queries scaled already. `norm`: (path, what comes in, what goes out) of each layer
    norm.
    """
    found: dict[str, list] = {}
    token = _open.set((*_open.get(), found))
    try:
        yield found
    finally:
        _open.reset(token)


def tap(name: str, value: Any) -> None:
    """Shows a value to whoever reads now; where nobody does, nothing happens, and nothing is in the graph."""
    for found in _open.get():
        found.setdefault(name, []).append(value)
