"""How a graph is laid out for whoever will run it. The layers know these choices, not the backends behind them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LoweringOptions:
    """Choices that change the graph and not its meaning.

    positions: `slice` takes the first rows of the position table; `gather` counts the positions at run time, which keeps every tensor
        static when the length is chosen by the caller of a resizable file.
    flat_ids: ids of one dimension look up along the second axis of tables (1, rows, H). GPU delegates take no others, and what is looked up
        along the first axis is a batch to them: LiteRT 2.3's accelerator adds row 0 of the positions to all of it, silently.
    mask_constant: added to the attention scores of padding; negative, and small enough in size for 16-bit floats.
    integer: every operator will be one of integers: those are chosen that round once.
    sums: attention by element-wise products and sums, see `kerasbert.layers.lowering.decomposed_attention`; of one row of a fixed length.
    scaled_query: the query kernels already carry the 1 / sqrt(D) of attention, which an exporter folds into them.
    """

    positions: str = "slice"
    flat_ids: bool = False
    mask_constant: float = -1e4
    scaled_query: bool = False
    integer: bool = False
    sums: bool = False


TRAINING_OPTIONS = LoweringOptions()


def leading(x):
    """Batch and length for a reshape, one of them -1 where the graph knows only the other: a constant shape keeps tensors static."""
    batch, length = x.shape[0], x.shape[1]
    if batch is not None:
        return batch, length if length is not None else -1
    if length is not None:
        return -1, length
    import tensorflow as tf  # export reads layouts where there is no TensorFlow

    shape = tf.shape(x)
    return shape[0], shape[1]
