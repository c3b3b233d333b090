"""The right answers to a question about a text, in every form in which users hold them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.base import check_same_number


class Span(NamedTuple):
    """An answer: characters `start` to `end` of its context, and what stands there."""

    start: int
    end: int
    text: str


def right_answers(y, examples: Sequence[tuple[str, str]]) -> list[list[Span]]:
    """The right answers to each question, none for one that its context does not answer.

    y: of each question an answer, a list of several, or None. An answer is `{"text": ..., "answer_start": ...}` or `(start, text)`, where
    `start` counts characters from 0 on; `{"text": [...], "answer_start": [...]}` are several. An answer whose text is empty is none.

    Raises KerasBertError naming the first question with another form, or with an answer that its context does not have at that place.
    """
    check_same_number(y, examples, "answers")
    return [_checked(value, *example, row) for row, (value, example) in enumerate(zip(y, examples, strict=True))]


def _checked(value, question: str, context: str, row: int) -> list[Span]:
    try:
        spans = [Span(start, start + len(text), text) for text, start in _answers(value)]
    except (TypeError, KeyError, ValueError):
        raise KerasBertError(
            f"row {row}, {question[:60]!r}: expected an answer as {{'text': ..., 'answer_start': ...}}, (start, text), a list of such, or "
            f"None, received {str(value)[:60]!r}"
        ) from None
    for start, end, text in spans:
        if start < 0 or context[start:end] != text:
            raise KerasBertError(
                f"row {row}, {question[:60]!r}: expected the answer {text[:40]!r} at character {start} of its context, received "
                f"{context[max(start, 0) : max(end, 0)][:40]!r} there"
            )
    return spans


def _answers(value) -> list[tuple[str, int]]:
    """(Text, start) of each. Raises TypeError, KeyError or ValueError for another form."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        texts, starts = value["text"], value["answer_start"]
        if isinstance(texts, str):
            texts, starts = [texts], [starts]
        return [_answer(text, start) for text, start in zip(texts, starts, strict=True) if text != ""]
    if isinstance(value, tuple):
        start, text = value
        return [_answer(text, start)] if text != "" else []
    if isinstance(value, list | np.ndarray):
        return [answer for each in value if each is not None for answer in _answers(each)]
    raise TypeError


def _answer(text, start) -> tuple[str, int]:
    if not isinstance(text, str) or isinstance(start, bool) or not isinstance(start, int | np.integer):
        raise TypeError
    return str(text), int(start)
