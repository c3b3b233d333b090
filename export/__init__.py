"""Keras -> `.tflite`, with validation of the file against the Keras model.

Names are imported when they are first used. `validate`, `inspect` and `benchmark` run on a board with only NumPy and a LiteRT (or tflite)
runtime, and nothing here imports TensorFlow before it is needed.
"""

from kerasbert.facades import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
