"""Processors: examples to features, and outputs to predictions and metrics, with NumPy and the tokenizers only."""

from kerasbert.processors.base import Processor, RawResult
from kerasbert.processors.features import IGNORED, Features
from kerasbert.processors.registry import PROCESSORS, make_processor, processor_class, read_for

__all__ = [
    "IGNORED",
    "PROCESSORS",
    "Features",
    "Processor",
    "RawResult",
    "make_processor",
    "processor_class",
    "read_for",
]
