"""Successive halving: all candidates are trained a little, the best of them more (Jamieson & Talwalkar 2016)."""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

FACTOR = 3  # of rows from one round to the next, and of candidates back
T = TypeVar("T")


def rounds(rows: int, least: int, candidates: int, finalists: int) -> list[int | None]:
    """Return the training rows of each round, the last one None for all.

    Args:
        rows: All training rows.
        least: The fewest rows of a round.
        candidates: The number of candidates.
        finalists: The number of those that are trained on all rows. Fewer candidates need no round before.
    """
    found: list[int | None] = [None]
    count = rows // FACTOR
    while count >= least and candidates > finalists:
        found.insert(0, count)
        count, candidates = count // FACTOR, math.ceil(candidates / FACTOR)
    return found


def halve(
    candidates: Sequence[T],
    rounds: Sequence[int | None],
    finalists: int,
    scores: Callable[[Sequence[T], int | None], Sequence[tuple[T, float]]],
    best_first: Callable[[Sequence[tuple[T, float]]], list[T]],
) -> list[T]:
    """Train candidates round by round, and return those of the last one, the best first.

    Args:
        candidates: The candidates.
        rounds: The training rows of each round.
        finalists: The fewest candidates of the last round.
        scores: Trains candidates on a number of rows, and returns those that could be trained with their scores.
        best_first: Returns the candidates of a round in the order in which they are kept.
    """
    left = list(candidates)
    for number, rows in enumerate(rounds):
        left = best_first(scores(left, rows))
        if number + 1 < len(rounds):
            left = left[: max(finalists, math.ceil(len(left) / FACTOR))]
    return left


def by_score(scored: Sequence[tuple[T, float]]) -> list[T]:
    """Return candidates by their scores, the best first; of equal ones the one that stands first."""
    return [each for each, _ in sorted(scored, key=lambda pair: -pair[1])]


def by_cost(
    scored: Sequence[tuple[T, float]], cost: Callable[[T], float], keeps: Callable[[float, float], bool]
) -> list[T]:
    """Return candidates by cost, the cheapest first, where they keep enough of the best score; then the others, by score.

    Args:
        scored: Candidates and their scores.
        cost: The cost of a candidate.
        keeps: Whether the first score keeps enough of the second.
    """
    best = max(score for _, score in scored)
    kept = sorted((each for each, score in scored if keeps(score, best)), key=cost)
    return kept + by_score([pair for pair in scored if not keeps(pair[1], best)])
