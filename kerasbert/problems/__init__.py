"""Problems: what tasks are asked and answer. NumPy and the tokenizers only."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import fields

from kerasbert.errors import KerasBertError
from kerasbert.problems.base import Problem, Reading
from kerasbert.problems.rows import IGNORED, Rows

_HOMES = {
    "single_label": ("kerasbert.problems.classification", "SingleLabel"),
    "multi_label": ("kerasbert.problems.classification", "MultiLabel"),
    "regression": ("kerasbert.problems.classification", "Regression"),
    "embedding": ("kerasbert.problems.embedding", "Embedding"),
    "tagging": ("kerasbert.problems.tagging", "Tagging"),
    "question_answering": ("kerasbert.problems.spans", "QuestionAnswering"),
    "multiple_choice": ("kerasbert.problems.choice", "MultipleChoice"),
    "masked_lm": ("kerasbert.problems.masked_words", "MaskedWords"),
}
PROBLEMS = tuple(_HOMES)


def problem_class(name: str) -> type[Problem]:
    """The class of that name. Raises KerasBertError for an unknown one."""
    if name not in _HOMES:
        raise KerasBertError(f"expected a problem among {', '.join(PROBLEMS)}, received {name!r}")
    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)


def problem_named(name: str, labels: Sequence[str] | None = None, settings: Mapping | None = None) -> Problem:
    """The problem of that name. Raises KerasBertError for an unknown one, or settings that it does not have."""
    kind = problem_class(name)
    settings = dict(settings or {})
    if unknown := sorted(settings.keys() - {field.name for field in fields(kind) if field.name != "labels"}):
        raise KerasBertError(f"expected settings of the problem {name!r}, received {unknown[0]!r}")
    return kind(labels=None if labels is None else tuple(labels), **settings)


__all__ = ["IGNORED", "PROBLEMS", "Problem", "Reading", "Rows", "problem_class", "problem_named"]
