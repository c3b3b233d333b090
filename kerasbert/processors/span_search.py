"""The best spans of a text by the scores of its tokens as starts and as ends."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kerasbert.processors.base import RawResult
from kerasbert.processors.span_windows import Window


class ScoredSpan(NamedTuple):
    """A span of characters of a context.

    Attributes:
        start: The first character.
        end: The character after the last one.
        score: The sum of both logits.
    """

    start: int
    end: int
    score: float


def best_spans(
    windows: Iterable[Window], raw_results: Iterable[RawResult], longest: int, count: int
) -> tuple[list[ScoredSpan], float]:
    """Return the best spans over all windows of a context, best first, and the score of no answer.

    A span that is in several windows has its highest score. No answer, the sum of both logits of `[CLS]`, has its lowest one: a window with
    an answer decides (Devlin et al. 2018, section 4.3, and the authors' code). Scores that are not finite are ignored.

    Args:
        windows: The windows.
        raw_results: Both logits of each window's tokens.
        longest: Tokens in the longest span.
        count: Number of spans to return.
    """
    scores: dict[tuple[int, int], float] = {}
    no_answer_scores = []
    for window, raw_result in zip(windows, raw_results, strict=True):
        start, end = raw_result["start_logits"][0], raw_result["end_logits"][0]
        no_answer_scores.append(float(start[0] + end[0]))
        for first, last, score in zip(*_of_window(window, start, end, longest, count), strict=True):
            scores[first, last] = max(score, scores.get((first, last), score))
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:count]
    no_answer_score = min(filter(np.isfinite, no_answer_scores), default=0.0)
    return [ScoredSpan(*span, score) for span, score in ranked], no_answer_score


def _of_window(
    window: Window, start: np.ndarray, end: np.ndarray, longest: int, count: int
) -> tuple[list[int], list[int], list[float]]:
    """Return the first characters, the ends and the scores of the best spans of one window."""
    starts, ends = window.context.starts[window.first : window.end], window.context.ends[window.first : window.end]
    scores, width = _span_scores(start[window.positions], end[window.positions], ends > starts, longest)
    best = np.argpartition(scores, -count)[-count:] if len(scores) > count else np.arange(len(scores))
    best = best[np.isfinite(scores[best])]
    first = best // width
    last = first + best % width
    return starts[first].tolist(), ends[last].tolist(), scores[best].tolist()


def _span_scores(start: np.ndarray, end: np.ndarray, visible: np.ndarray, longest: int) -> tuple[np.ndarray, int]:
    """Return the scores of all spans of at most `longest` tokens, and their width.

    The scores are flat, `(n * width,)`: span `i * width + k` has tokens `i` to `i + k`. The score is minus infinity for spans that leave
    the window, start or end with a token without characters, or have a logit that is not finite.
    """
    width = max(min(longest, len(start)), 1)
    start, end = (np.where(visible & np.isfinite(side), side, -np.inf).astype(np.float64) for side in (start, end))
    padded = np.append(end, np.full(width - 1, -np.inf))
    if not len(start):
        return start, width
    return (start[:, None] + np.lib.stride_tricks.sliding_window_view(padded, width)).ravel(), width
