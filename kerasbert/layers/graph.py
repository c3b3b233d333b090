"""How a graph is laid out for whoever will run it. The layers know these choices, not the backends behind them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GraphLayout:
    """Choices that change the graph and not its meaning.

    positions: `slice` takes the first rows of the position table; `gather` counts the positions at run time, which keeps every tensor
        static when the length is chosen by the caller of a resizable file.
    mask_constant: added to the attention scores of padding; negative, and small enough in size for 16-bit floats.
    scaled_query: the query kernels already carry the 1 / sqrt(D) of attention, which an exporter folds into them.
    """

    positions: str = "slice"
    mask_constant: float = -1e4
    scaled_query: bool = False


TRAINING_LAYOUT = GraphLayout()
