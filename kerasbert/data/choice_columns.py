"""The columns of multiple-choice questions: prompt, stem, choices and label, as the usual data sets name them."""

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from kerasbert.arguments import argument
from kerasbert.console.output import note
from kerasbert.data.records import ObjectRow
from kerasbert.errors import KerasBertError

# Column names that are recognized by default, in the order of preference; case is ignored.
_PROMPTS = ("prompt", "question", "question_stem", "premise", "sent1", "ctx", "context")
_PASSAGES = ("article", "passage", "premise", "context")  # before a question
_QUESTIONS = ("question",)
_LISTS = ("choices", "options", "endings")
_LABELS = ("label", "answer", "answerkey")
_CHOICE = re.compile(r"(?:choice|option|ending|answer)[ _]?(\d+)", re.IGNORECASE)
_ENDING = re.compile(r"ending[ _]?\d+", re.IGNORECASE)
_SECOND_SENTENCE = "sent2"  # of SWAG: how each ending begins


@dataclass(frozen=True)
class QuestionColumns:
    """The columns of a file.

    Attributes:
        prompt: The column of the prompt.
        stem: The column of the text with which each choice begins, or None.
        choices: The columns of the choices, or the one that holds them all.
        label: The column of the correct choice, or None.
        numbered_from: The number in the name of the first choice's column, or 0.
    """

    prompt: str
    stem: str | None
    choices: tuple[str, ...]
    label: str | None
    numbered_from: int = 0

    @classmethod
    def find(
        cls,
        path: Path,
        records: Iterable[ObjectRow],
        prompt: str | None,
        choices: Sequence[str] | None,
        label: str | None,
    ) -> "QuestionColumns":
        """Find the columns, and print a note where two of them make the text of a choice.

        Args:
            path: The file.
            records: Its rows.
            prompt: The column of the prompt, if it is named.
            choices: The columns of the choices, if they are named.
            label: The column of the label, if it is named.

        Raises:
            KerasBertError: When a column is missing.
        """
        records = list(records)
        names = _Names(path, tuple(dict.fromkeys(name for _, record in records for name in record)))
        first = _prompt_column(names, prompt)
        nested = any(isinstance(record.get(first), dict) for _, record in records)
        found, numbered_from = ((first,), 0) if nested else _choice_columns(names, choices)
        prompt_column, stem = _with_passage(names, first, prompt is not None, found)
        if stem is not None:
            note(f"note: {path}: the prompt is {prompt_column!r}, and each choice is {stem!r} with a choice")
        label_column = names.find(_LABELS) if label is None else names.require(label, "label")
        return cls(prompt_column, stem, found, label_column, numbered_from)


@dataclass(frozen=True)
class _Names:
    """The names of all columns of a file."""

    path: Path
    names: tuple[str, ...]

    def require(self, column: str, role: str) -> str:
        """Return the column itself, or raise if it is missing."""
        if column not in self.names:
            raise self.error(f"a column {column!r}", f"; name one with {argument(role)}")
        return column

    def find(self, candidates: Sequence[str]) -> str | None:
        """Return the first column among the candidates, ignoring case, or None."""
        known = {name.strip().casefold(): name for name in reversed(self.names)}
        return next((known[name] for name in candidates if name in known), None)

    def error(self, expected: str, advice: str = "") -> KerasBertError:
        return KerasBertError(f"{self.path}: expected {expected}, received the columns {', '.join(self.names)}{advice}")


def _prompt_column(names: _Names, prompt: str | None) -> str:
    if prompt is not None:
        return names.require(prompt, "prompt")
    if (first := names.find(_PROMPTS)) is None:
        raise names.error(f"a column of prompts, one of {', '.join(_PROMPTS)}", f"; name one with {argument('prompt')}")
    return first


def _with_passage(names: _Names, first: str, is_named: bool, choices: Sequence[str]) -> tuple[str, str | None]:
    """Return the column of the prompt, and that of the text with which each choice begins, if there is one.

    SWAG's choices continue its second sentence (Zellers et al. 2018). A question about a passage stands before each choice, as in the
    recipe for RACE of transformers 2.0 (`examples/utils_multiple_choice.py`).
    """
    passage, question = names.find(_PASSAGES), names.find(_QUESTIONS)
    if all(map(_ENDING.fullmatch, choices)) and (second := names.find((_SECOND_SENTENCE,))) not in (None, first):
        return first, second
    if passage is not None and question is not None and first == (passage if is_named else question):
        return passage, question
    return first, None


def _choice_columns(names: _Names, requested: Sequence[str] | None) -> tuple[tuple[str, ...], int]:
    """Return the columns of the choices, and the number of the first one."""
    if requested is not None:
        requested = [requested] if isinstance(requested, str) else requested
        return tuple(names.require(name, "choices") for name in requested), 0
    if list_column := names.find(_LISTS):
        return (list_column,), 0
    matches = ((_CHOICE.fullmatch(name.strip()), name) for name in names.names)
    numbered = sorted((int(match[1]), name) for match, name in matches if match)
    if numbered:
        return tuple(name for _, name in numbered), numbered[0][0]
    letters = list(takewhile(names.names.__contains__, string.ascii_uppercase))
    if len(letters) > 1:
        return tuple(letters), 0
    raise names.error("columns of choices, choices or choice0, choice1, ...")
