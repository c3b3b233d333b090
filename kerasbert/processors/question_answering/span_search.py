"""The best spans of a text by the scores of its tokens as starts and as ends."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kerasbert.processors.base import RawResult
from kerasbert.processors.question_answering.span_windows import Window


class ScoredSpan(NamedTuple):
    """Characters `start` to `end` of a context; score: the sum of both logits."""

    start: int
    end: int
    score: float


def best_spans(
    windows: Iterable[Window], raw_results: Iterable[RawResult], longest: int, count: int
) -> tuple[list[ScoredSpan], float]:
    """The `count` best spans over all windows of a context, best first, and the score of no answer.

    A span has at most `longest` tokens of one window's context. One that lies in several windows has its highest score. No answer, the
    sum of both logits of `[CLS]`, has its lowest one, since a window that holds an answer speaks for all (Devlin et al. 2018, section 4.3,
    and their code). Scores that are no numbers count for nothing.
    """
    found: dict[tuple[int, int], float] = {}
    nothing = []
    for window, raw_result in zip(windows, raw_results, strict=True):
        start, end = raw_result["start_logits"][0], raw_result["end_logits"][0]
        nothing.append(float(start[0] + end[0]))
        for first, behind, score in zip(*_of_window(window, start, end, longest, count), strict=True):
            found[first, behind] = max(score, found.get((first, behind), score))
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:count]
    return [ScoredSpan(*place, score) for place, score in ranked], min(filter(np.isfinite, nothing), default=0.0)


def _of_window(window: Window, start: np.ndarray, end: np.ndarray, longest: int, count: int) -> tuple[list, list, list]:
    """First characters, characters behind, and scores of the best spans of one window."""
    starts, ends = window.context.starts[window.first : window.end], window.context.ends[window.first : window.end]
    scores, width = _band(start[window.place], end[window.place], ends > starts, longest)
    best = np.argpartition(scores, -count)[-count:] if len(scores) > count else np.arange(len(scores))
    best = best[np.isfinite(scores[best])]
    first = best // width
    last = first + best % width
    return starts[first].tolist(), ends[last].tolist(), scores[best].tolist()


def _band(start: np.ndarray, end: np.ndarray, visible: np.ndarray, longest: int) -> tuple[np.ndarray, int]:
    """Scores of all spans of at most `longest` tokens, flat (n * width,), and the width: span `i * width + k` has tokens `i` to `i + k`.

    What is no span, or begins or ends with a token without any character, or has a score that is no number, has minus infinity.
    """
    width = max(min(longest, len(start)), 1)
    start, end = (np.where(visible & np.isfinite(side), side, -np.inf).astype(np.float64) for side in (start, end))
    padded = np.append(end, np.full(width - 1, -np.inf))
    if not len(start):
        return start, width
    return (start[:, None] + np.lib.stride_tricks.sliding_window_view(padded, width)).ravel(), width
