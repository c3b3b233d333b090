"""Keras -> `.tflite`, and the proof that the file still does its job.

Names are looked up when they are first used: `validate`, `inspect` and `benchmark` run on a board that has only NumPy and a LiteRT (or
tflite) runtime, and nothing here imports TensorFlow before it is needed.
"""

import importlib

_HOMES = {
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

__all__ = list(_HOMES)


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kerasbert.export' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
