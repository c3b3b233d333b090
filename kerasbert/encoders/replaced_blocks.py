"""Blocks that take the place of an encoder's own during some calls."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import tf_keras as keras

from kerasbert.layers.quantization.connections import each_call

# A block as an encoder calls it: a layer, or any other function that has `input_sum`.
Block = Callable[..., Any]

# Of this thread: with distribution every replica runs in its own.
_replaced: ContextVar[tuple[tuple[keras.layers.Layer, Sequence[Block]], ...]] = ContextVar("replaced", default=())


@contextlib.contextmanager
def replaced_blocks(encoder: keras.layers.Layer, blocks: Sequence[Block]) -> Iterator[None]:
    """Let an encoder call other blocks instead of its own, also while a `tf.function` is traced.

    Args:
        encoder: The encoder.
        blocks: Functions of the states (B, S, H) and the attention bias (B, 1, 1, S), as its own blocks are.
    """
    token = _replaced.set((*_replaced.get(), (encoder, blocks)))
    try:
        yield
    finally:
        _replaced.reset(token)


def called_blocks(encoder: keras.layers.Layer) -> Iterable[Any]:
    """Return the blocks that an encoder calls: its own, unless they are replaced.

    Args:
        encoder: The encoder.
    """
    return next((blocks for owner, blocks in _replaced.get() if owner is encoder), None) or each_call(encoder)
