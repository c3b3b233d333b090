"""Problems: what tasks are asked and answer. NumPy and the tokenizers only."""

import functools
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import get_type_hints

from kerasbert.errors import KerasBertError
from kerasbert.processors.base import Processor, Reading
from kerasbert.processors.features import IGNORED, Rows

_HOMES = {
    "single_label": ("kerasbert.processors.classification", "SingleLabel"),
    "multi_label": ("kerasbert.processors.classification", "MultiLabel"),
    "regression": ("kerasbert.processors.classification", "Regression"),
    "embedding": ("kerasbert.processors.embedding", "Embedding"),
    "tagging": ("kerasbert.processors.token_classification.processor", "Tagging"),
    "question_answering": ("kerasbert.processors.question_answering.processor", "QuestionAnswering"),
    "multiple_choice": ("kerasbert.processors.multiple_choice", "MultipleChoice"),
    "masked_lm": ("kerasbert.processors.masked_lm", "MaskedWords"),
}
PROBLEMS = tuple(_HOMES)
_MOST = 1 << 20  # of any count among a problem's settings


def processor_class(name: str) -> type[Processor]:
    """The class of that name. Raises KerasBertError for an unknown one."""
    if name not in _HOMES:
        raise KerasBertError(f"expected a problem among {', '.join(PROBLEMS)}, received {name!r}")
    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)


def processor_named(name: str, labels: Sequence[str] | None = None, settings: Mapping | None = None) -> Processor:
    """The problem of that name. Raises KerasBertError for an unknown one, or settings that it does not have."""
    kind = processor_class(name)
    settings = dict(settings or {})
    if unknown := sorted(settings.keys() - {field.name for field in fields(kind) if field.name != "labels"}):
        raise KerasBertError(f"expected settings of the problem {name!r}, received {unknown[0]!r}")
    hints = _hints(kind) if settings else {}
    for key, value in settings.items():
        _check_setting(key, value, hints[key])
    return kind(labels=None if labels is None else tuple(labels), **settings)


_hints = functools.cache(get_type_hints)


def _check_setting(key: str, value, kind) -> None:
    """Settings may come from a file of unknown origin. Raises KerasBertError for a value of another type, and a count out of all bounds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    right = isinstance(value, kind) if value is None or not number else isinstance(value, kind) or kind is float
    if isinstance(value, bool):
        right = kind is bool
    if right and number:
        right = 0 < value <= _MOST if isinstance(value, int) and kind is not float else abs(value) <= _MOST
    if not right:
        raise KerasBertError(f"expected a setting {key!r} of its problem, received {str(value)[:60]!r}")


__all__ = ["IGNORED", "PROBLEMS", "Processor", "Reading", "Rows", "processor_class", "processor_named"]
