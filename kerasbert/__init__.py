"""kerasbert: from a BERT checkpoint to a validated int8 model on a phone, in Keras.

Names resolve on first use (PEP 562), so `import kerasbert` is cheap and the validators run without TensorFlow.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; `__getattr__` imports the same names at run time
    from kerasbert import compression, data, encoders, export, text, training, zoo
    from kerasbert.console.strictness import strict
    from kerasbert.errors import KerasBertError
    from kerasbert.export.runtime.opened_model import open as open
    from kerasbert.memory import keep_memory
    from kerasbert.tasks import (
        MaskedLM,
        MultipleChoice,
        NextSentencePredictor,
        Pretrainer,
        QuestionAnswerer,
        ReplacedTokenDetector,
        SentenceEncoder,
        TextClassifier,
        TokenTagger,
    )
    from kerasbert.tasks.adapters import load_adapters, save_adapters, train_adapters
    from kerasbert.tasks.auto import load_task
    from kerasbert.tasks.pretrained import load_encoder
    from kerasbert.training import adamw

__version__ = "0.1.0"

# `open` is left out: `from kerasbert import *` must not shadow the builtin.
__all__ = [
    "KerasBertError",
    "MaskedLM",
    "MultipleChoice",
    "NextSentencePredictor",
    "Pretrainer",
    "QuestionAnswerer",
    "ReplacedTokenDetector",
    "SentenceEncoder",
    "TextClassifier",
    "TokenTagger",
    "__version__",
    "adamw",
    "compression",
    "data",
    "encoders",
    "export",
    "keep_memory",
    "load_adapters",
    "load_encoder",
    "load_task",
    "save_adapters",
    "strict",
    "text",
    "train_adapters",
    "training",
    "zoo",
]

_MODULE_OF = {
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
    "strict": "kerasbert.console.strictness",
    "train_adapters": "kerasbert.tasks.adapters",
}
_PACKAGES = ("compression", "data", "encoders", "export", "text", "training", "zoo")


def _register_zoo() -> None:
    """Make the names of the zoo's models known to every function that loads a model; the zoo is imported when one is looked up."""
    from pathlib import Path

    from kerasbert import model_names

    def lookup(name: str) -> Path | None:
        from kerasbert.zoo.catalog import shipped_path

        return shipped_path(name)

    def names() -> list[str]:
        from kerasbert.zoo.catalog import names

        return names()

    model_names.register(lookup, names)


_register_zoo()


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"kerasbert.{name}")
    raise AttributeError(f"module 'kerasbert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "open"])
