"""Exact match and F1 of extracted answers, by the rules of SQuAD's own evaluation (Rajpurkar et al. 2016 and 2018).

Texts are compared in lower case, without ASCII punctuation, without the articles a, an and the, and with single spaces. F1 is that of the
words of both texts, each counted as often as it occurs. If a question has several right answers, the best one counts. The right answer to
a question without answers is an empty text. Scores are from 0 to 1.

These rules are for English. Chinese and Japanese do not separate words by spaces, and a Korean word includes its particles, so a slightly
longer answer would count as wrong: their data sets (KorQuAD 1.0, JSQuAD) compare characters instead of words, as `unit="character"` does.
It ignores all Unicode punctuation and white space, and no articles. CMRC 2018 differs from it in numbers and Latin words, which it counts
as wholes.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from kerasbert.errors import KerasBertError

UNITS = ("word", "character")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def units(text: str, unit: str = "word") -> list[str]:
    """Return the words or characters of an answer that are compared, normalized.

    Args:
        text: The answer.
        unit: "word" or "character".

    Raises:
        KerasBertError: When the unit is another one.
    """
    if unit not in UNITS:
        raise KerasBertError(f"expected answers compared by {' or '.join(UNITS)}, received {unit!r}")
    if unit == "character":
        return [char for char in text.lower() if not char.isspace() and unicodedata.category(char)[0] != "P"]
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def exact_match(right: Sequence[str], answer: str, unit: str = "word") -> float:
    """Return 1 if an answer is one of the right ones, else 0.

    Args:
        right: The right answers; none for a question without an answer.
        answer: The answer.
        unit: See `units`.
    """
    return max(float(units(answer, unit) == expected) for expected in _expected_units(right, unit))


def f1(right: Sequence[str], answer: str, unit: str = "word") -> float:
    """Compute F1 of the words that an answer shares with the most similar right answer.

    Args:
        right: The right answers; none for a question without an answer.
        answer: The answer.
        unit: See `units`.
    """
    return max(_f1(expected, units(answer, unit)) for expected in _expected_units(right, unit))


def squad_scores(right: Sequence[Sequence[str]], answers: Sequence[str], unit: str = "word") -> dict[str, float]:
    """Compute the means of `F1` and `exact match` over all questions.

    If some questions have no answer, there are also the means over the others (`answerable F1`, `answerable exact match`), and
    `no-answer accuracy`, the fraction of these questions with an empty answer.

    Args:
        right: The right answers to each question; none for a question without an answer.
        answers: One text for each question, "" for no answer.
        unit: See `units`.

    Raises:
        KerasBertError: When there are no questions, or the unit is unknown.
    """
    if not len(answers):
        raise KerasBertError("expected at least one question to score, received none; give the task some questions")
    pairs = list(zip(right, answers, strict=True))
    overlap = np.array([f1(*pair, unit) for pair in pairs])
    exact = np.array([exact_match(*pair, unit) for pair in pairs])
    answerable = np.array([len(texts) > 0 for texts in right])
    scores = {"F1": overlap.mean(), "exact match": exact.mean()}
    if not answerable.all():
        scores["no-answer accuracy"] = exact[~answerable].mean()
        if answerable.any():
            scores |= {"answerable F1": overlap[answerable].mean(), "answerable exact match": exact[answerable].mean()}
    return {name: float(value) for name, value in scores.items()}


def best_threshold(
    right: Sequence[Sequence[str]], answers: Sequence[str], margins: Sequence[float], unit: str = "word"
) -> tuple[float, float]:
    """Return the no-answer threshold with the highest F1 over all questions, and that F1. Of equal thresholds it is the lowest.

    A question is answered if its margin is at most the threshold.

    Args:
        right: The right answers to each question; none for a question without an answer.
        answers: The best answer to each question.
        margins: The score of no answer minus the score of that answer.
        unit: See `units`.
    """
    answered = np.array([f1(*pair, unit) for pair in zip(right, answers, strict=True)])
    unanswered = np.array([float(not len(texts)) for texts in right])
    all_margins = np.asarray(margins, np.float64)
    order = np.argsort(all_margins, kind="stable")
    ranked, gains = all_margins[order], np.cumsum((answered - unanswered)[order])
    last = np.append(ranked[1:] != ranked[:-1], True)  # equal margins are answered together
    thresholds = np.append(np.nextafter(ranked[0], -np.inf), ranked[last])
    totals = unanswered.sum() + np.append(0.0, gains[last])
    best = int(totals.argmax())
    return float(thresholds[best]), float(totals[best] / len(ranked))


def _expected_units(right: Sequence[str], unit: str) -> list[list[str]]:
    """Return the units of each right answer that has any; without any, an empty answer is right."""
    return [expected for text in right if (expected := units(text, unit))] or [[]]


def _f1(expected: list[str], answer: list[str]) -> float:
    if not expected or not answer:
        return float(expected == answer)
    shared = sum((Counter(expected) & Counter(answer)).values())
    return 2 * shared / (len(expected) + len(answer))
