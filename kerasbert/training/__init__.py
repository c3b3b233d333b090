"""Fine-tuning: settings, runs, freezing, losses and optimizers. Names load on first use, so that a config needs no TensorFlow."""

from kerasbert.facades import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
