"""For heads, see `connections`."""

from kerasbert.layers.quantization.connections import tie_pooled, tie_sequence

__all__ = ["tie_pooled", "tie_sequence"]
