"""Keras -> `.tflite`, and the proof that the file still does its job.

Nothing here imports TensorFlow before it is used: `validate`, `inspect` and `benchmark` run on a board that has only
NumPy and a LiteRT (or tflite) runtime. Each of the four verbs is a submodule *and* the function of the same name, so
both `kerasbert.export.validate("model.tflite", ...)` and `import kerasbert.export.validate` do what they say.
"""

import importlib
import sys
import types

# What a user reaches as `kerasbert.export.<name>`: the submodule that holds it.
_EXPORTS = {
    "convert": "convert",
    "validate": "validate",
    "inspect": "inspect",
    "benchmark": "benchmark",
    "Inspection": "inspect",
    "Benchmark": "benchmark",
    "ValidationReport": "checks",
    "Tolerance": "checks",
    "TFLiteFile": "tflite_file",
    "Metadata": "metadata",
    "open_model": "runtimes",
    "write_html": "report",
}
_VERBS = ("convert", "validate", "inspect", "benchmark")

__all__ = list(_EXPORTS)


class _Verb(types.ModuleType):
    """A submodule that can be called: it passes the call on to the function of its own name."""

    def __call__(self, *args, **kwargs):
        return vars(self)[self.__name__.rpartition(".")[2]](*args, **kwargs)


class _Package(types.ModuleType):
    """Makes a verb's submodule callable at the moment the import system hangs it under this package."""

    def __setattr__(self, name, value):
        if name in _VERBS and type(value) is types.ModuleType:
            value.__class__ = _Verb
        super().__setattr__(name, value)


def __getattr__(name: str):
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_EXPORTS[name]}")
    return module if name in _VERBS else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})


sys.modules[__name__].__class__ = _Package
