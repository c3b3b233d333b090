"""The right answers to a question about a text, in all accepted forms."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.base import check_same_number
from kerasbert.values import is_whole_number


class Span(NamedTuple):
    """An answer: the text of characters `start` to `end` of its context."""

    start: int
    end: int
    text: str


def right_answers(y: Any, examples: Sequence[tuple[str, str]]) -> list[list[Span]]:
    """Return the right answers to each question; none for a question that its context does not answer.

    Args:
        y: For each question an answer, a list of several, or None. An answer is `{"text": ..., "answer_start": ...}` or `(start, text)`,
            with `start` in characters from 0 on; `{"text": [...], "answer_start": [...]}` are several. An answer with an empty text is
            none.
        examples: The questions with their contexts.

    Raises:
        KerasBertError: When an answer has another form, or its context has other text at its position; it names the first question.
    """
    check_same_number(y, examples, "answers")
    return [_spans_of(value, *example, row) for row, (value, example) in enumerate(zip(y, examples, strict=True))]


def _spans_of(value: Any, question: str, context: str, row: int) -> list[Span]:
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


def _answers(value: Any) -> list[tuple[str, int]]:
    """Return (text, start) of each answer.

    Raises:
        TypeError, KeyError, ValueError: When the value has another form.
    """
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


def _answer(text: Any, start: Any) -> tuple[str, int]:
    if not isinstance(text, str) or not is_whole_number(start):
        raise TypeError
    return str(text), int(start)
