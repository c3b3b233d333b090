"""Readers from files to labelled examples, label encoding, batching by length, and the bundled data set. Names load on first use."""

from kerasbert.facades import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
