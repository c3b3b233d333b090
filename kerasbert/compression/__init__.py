"""Model compression: quantization-aware training and its diagnosis, pruning.

Names are imported on first use: policies need no TensorFlow.
"""

from kerasbert.facades import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
