"""Exact match and F1 of extracted answers, by the rules of SQuAD's own evaluation (Rajpurkar et al. 2016 and 2018).

Texts are compared in lower case, without ASCII punctuation, without the articles a, an and the, and with single spaces. F1 is that of the
words of both texts, each counted as often as it occurs. Where a question has several right answers, the best one counts. A question without
one is answered right by nothing at all. Scores are from 0 to 1.

These rules are for English. Chinese and Japanese do not separate words by spaces, and a Korean word carries its particles, so a slightly
longer answer would count as altogether wrong: their data sets (KorQuAD 1.0, JSQuAD) take characters for words, which `unit="character"`
does. It leaves out all Unicode punctuation and white space, and no articles. CMRC 2018 differs from it in numbers and Latin words, which it
counts whole.
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
    """What an answer is compared by: its words, or its characters, without what does not matter.

    Raises KerasBertError for another unit.
    """
    if unit not in UNITS:
        raise KerasBertError(f"expected answers compared by {' or '.join(UNITS)}, received {unit!r}")
    if unit == "character":
        return [char for char in text.lower() if not char.isspace() and unicodedata.category(char)[0] != "P"]
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def exact_match(right: Sequence[str], found: str, unit: str = "word") -> float:
    """1 where `found` is one of the right answers, else 0. right: none for a question without an answer."""
    return max(float(units(found, unit) == wanted) for wanted in _wanted(right, unit))


def f1(right: Sequence[str], found: str, unit: str = "word") -> float:
    """F1 of the words that `found` shares with the right answer that it is most like. right: none for a question without an answer."""
    return max(_f1(wanted, units(found, unit)) for wanted in _wanted(right, unit))


def squad_scores(right: Sequence[Sequence[str]], found: Sequence[str], unit: str = "word") -> dict[str, float]:
    """`F1` and `exact match`, the means over all questions; where some have no answer, also those over the ones that have (`answerable F1`,
    `answerable exact match`) and `no-answer accuracy`, the share of the others for which nothing was found.

    right: the right answers of each question, none for a question without an answer. found: one text a question, "" for nothing.

    Raises KerasBertError without any question, or for another unit.
    """
    if not len(found):
        raise KerasBertError("expected at least one question to score, received none")
    pairs = list(zip(right, found, strict=True))
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
    right: Sequence[Sequence[str]], found: Sequence[str], doubts: Sequence[float], unit: str = "word"
) -> tuple[float, float]:
    """Up to which doubt an answer should be given for the highest F1 over all questions, and that F1.

    found: the best answer to each question, given or not. doubts: how much more nothing scored than that answer; a question counts as
    answered up to the threshold, and as not answered above it. Among equal ones the lowest threshold.
    """
    answered = np.array([f1(*pair, unit) for pair in zip(right, found, strict=True)])
    silent = np.array([float(not len(texts)) for texts in right])
    doubts = np.asarray(doubts, np.float64)
    order = np.argsort(doubts, kind="stable")
    doubts, gains = doubts[order], np.cumsum((answered - silent)[order])
    last = np.append(doubts[1:] != doubts[:-1], True)  # equal doubts are answered together
    thresholds = np.append(np.nextafter(doubts[0], -np.inf), doubts[last])
    totals = silent.sum() + np.append(0.0, gains[last])
    best = int(totals.argmax())
    return float(thresholds[best]), float(totals[best] / len(doubts))


def _wanted(right: Sequence[str], unit: str) -> list[list[str]]:
    """The right answers' words; those that have none do not count, and without any the right answer is nothing."""
    return [wanted for text in right if (wanted := units(text, unit))] or [[]]


def _f1(wanted: list[str], found: list[str]) -> float:
    if not wanted or not found:
        return float(wanted == found)
    shared = sum((Counter(wanted) & Counter(found)).values())
    return 2 * shared / (len(wanted) + len(found))
