"""Pictures of what is inside a model. Names load on first use, so that `import kerasbert` needs no TensorFlow."""

from kerasbert.facades import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
