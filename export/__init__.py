"""Keras -> `.tflite`, with validation of the file against the Keras model.

Names are imported when they are first used. `validate`, `inspect` and `benchmark` run on a board with only NumPy and a LiteRT (or tflite)
runtime, and nothing here imports TensorFlow before it is needed.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kerasbert.export.benchmarking import Benchmark, benchmark
    from kerasbert.export.conversion import convert
    from kerasbert.export.inspection import Inspection, inspect
    from kerasbert.export.reporting.report import write_html
    from kerasbert.export.runtime.interpreters import open_model
    from kerasbert.export.tflite.metadata import Metadata
    from kerasbert.export.tflite.tflite_file import TFLiteFile
    from kerasbert.export.validation.checks import Tolerance, ValidationReport
    from kerasbert.export.validation.validator import validate

_MODULES = {
    "Benchmark": "kerasbert.export.benchmarking",
    "Inspection": "kerasbert.export.inspection",
    "Metadata": "kerasbert.export.tflite.metadata",
    "TFLiteFile": "kerasbert.export.tflite.tflite_file",
    "Tolerance": "kerasbert.export.validation.checks",
    "ValidationReport": "kerasbert.export.validation.checks",
    "benchmark": "kerasbert.export.benchmarking",
    "convert": "kerasbert.export.conversion",
    "inspect": "kerasbert.export.inspection",
    "open_model": "kerasbert.export.runtime.interpreters",
    "validate": "kerasbert.export.validation.validator",
    "write_html": "kerasbert.export.reporting.report",
}

__all__ = [
    "Benchmark",
    "Inspection",
    "Metadata",
    "TFLiteFile",
    "Tolerance",
    "ValidationReport",
    "benchmark",
    "convert",
    "inspect",
    "open_model",
    "validate",
    "write_html",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'kerasbert.export' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
