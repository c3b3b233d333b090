"""kerasbert: from a BERT checkpoint to a validated int8 model on a phone, in Keras.

Names are looked up when they are first used, so that `import kerasbert` costs nothing and the validators run without TensorFlow.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "KerasBertError": "kerasbert.errors",
    "MaskedLM": "kerasbert.tasks",
    "MultipleChoice": "kerasbert.tasks",
    "NextSentencePredictor": "kerasbert.tasks",
    "Pretrainer": "kerasbert.tasks",
    "QuestionAnswerer": "kerasbert.tasks",
    "ReplacedTokenDetector": "kerasbert.tasks",
    "SentenceEncoder": "kerasbert.tasks",
    "TextClassifier": "kerasbert.tasks",
    "TokenTagger": "kerasbert.tasks",
    "adamw": "kerasbert.training",
    "keep_memory": "kerasbert.memory",
    "load_adapters": "kerasbert.tasks.adapters",
    "load_encoder": "kerasbert.tasks.pretrained",
    "load_task": "kerasbert.tasks.auto",
    "open": "kerasbert.export.runtime.opened_model",
    "save_adapters": "kerasbert.tasks.adapters",
    "train_adapters": "kerasbert.tasks.adapters",
}
_PACKAGES = ("compression", "data", "encoders", "export", "text", "training", "zoo")

# Not `open`: `from kerasbert import *` must leave Python's own alone.
__all__ = ["__version__", *(name for name in _HOMES if name != "open"), *_PACKAGES]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"kerasbert.{name}")
    raise AttributeError(f"module 'kerasbert' has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, "open"])
