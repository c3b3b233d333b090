"""Options of the exported graph. The layers know these choices, and not the backends that need them.

They are a context, which an exporter opens around the call that is traced. A layer reads them where they matter.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf


@dataclass(frozen=True)
class LoweringOptions:
    """Choices that change the graph and not its meaning.

    Attributes:
        positions: `slice` takes the first rows of the position table. `gather` counts the positions at run time, which keeps every tensor
            of a resizable file static.
        rank1_ids: gather with rank-1 ids along axis 1 of a (1, vocab, H) table, the only form that GPU delegates accept. Along axis 0 the
            result is a batch to them: the accelerator of LiteRT 2.3 adds row 0 of the positions to all of it, silently.
        mask_constant: the bias of the scores of padding; negative, and small enough in size for 16-bit floats.
        integer: every operator is one of integers, so those are chosen that round once.
        decomposed_attention: attention by element-wise products and sums, for a batch of 1 and a fixed length; see
            `kerasbert.layers.blocks.decomposed_attention`.
        half_range: no intermediate value leaves the range of 16-bit floats where inputs and outputs are within it: norms scale each token's
            vector before they square it.
        scaled_query: the query kernels already carry the 1 / sqrt(D) of attention, which an exporter folds into them.
    """

    positions: str = "slice"
    rank1_ids: bool = False
    mask_constant: float = -1e4
    half_range: bool = False
    scaled_query: bool = False
    integer: bool = False
    decomposed_attention: bool = False


_TRAINING = LoweringOptions()
# Of this thread, or of this coroutine: two models may be exported at the same time.
_OPTIONS: ContextVar[LoweringOptions] = ContextVar("lowering", default=_TRAINING)


def lowering_options() -> LoweringOptions:
    """Return the options of the graph that is traced; the defaults outside of an export."""
    return _OPTIONS.get()


@contextmanager
def lowered(options: LoweringOptions) -> Iterator[None]:
    """Trace every layer that is called in this context with these options.

    Args:
        options: the options of the graph.
    """
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def leading(x: "tf.Tensor") -> "tuple[int | tf.Tensor, int | tf.Tensor]":
    """Return batch and length for a reshape, one of them -1 if the graph knows only the other: constant shapes keep tensors static."""
    batch, length = x.shape[0], x.shape[1]
    if batch is not None:
        return batch, length if length is not None else -1
    if length is not None:
        return -1, length
    import tensorflow as tf  # export reads options without TensorFlow

    shape = tf.shape(x)
    return shape[0], shape[1]
