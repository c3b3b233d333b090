"""The search: it probes what candidates cost, trains those within the budget by successive halving, and chooses among the finalists."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kerasbert.arguments import argument
from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.selection.budget import Budget, Cost
from kerasbert.selection.candidate import Candidate
from kerasbert.selection.halving import by_cost, by_score, halve, rounds

RATES = (1.0, 0.5, 2.0)  # over the recommended learning rate
FINALISTS = 2
LEAST_ROWS = 300  # of a round: scores after fewer say little
NARROW = 0.5  # of the feed-forward neurons that are removed


class Workshop(Protocol):
    """What makes and measures the candidates' files."""

    def cost(self, candidate: Candidate) -> Cost:
        """Return what the file of a candidate costs, trained or not."""
        ...

    def scores(
        self, candidates: Sequence[Candidate], rows: int | None
    ) -> Iterable[tuple[Candidate, float | KerasBertError]]:
        """Train candidates on a number of rows, None for all, and return each with its score on dev, or with why it has none.

        They come in the order in which they were given. A larger score is a better one.
        """
        ...

    def finals(self, candidates: Sequence[Candidate]) -> Mapping[Candidate, tuple[Cost, float]]:
        """Return cost and score of the files of candidates that were trained on all rows."""
        ...


@dataclass(frozen=True)
class Space:
    """What is searched.

    Attributes:
        layers: The number of layers of each encoder, by name; the first is the best one to begin with.
        recipes: The recipes of the files.
        rows: Training rows.
        trials: The most candidates that are trained in the first round.
    """

    layers: Mapping[str, int]
    recipes: Sequence[str]
    rows: int
    trials: int


@dataclass
class Trial:
    """What is known of a candidate.

    Attributes:
        candidate: The candidate.
        scores: Scores of the trained model on dev by training rows, 0 for all.
        cost: What its file costs.
        file_score: The score of its file on dev; None for one that was not trained on all rows.
    """

    candidate: Candidate
    scores: dict[int, float] = field(default_factory=dict)
    cost: Cost | None = None
    file_score: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a search.

    Attributes:
        probes: The costs of the structures that were probed.
        trials: The candidates that were trained, the chosen one first.
        reference: The first encoder that can be made, where the budget limits a loss, which is against the best file; else the best
            finalist.
        chosen: The candidate whose file is the best within the budget; None where no file is.
        reason: Why it is the best, or what came nearest.
    """

    probes: Mapping[Candidate, Cost]
    trials: Sequence[Trial]
    reference: Candidate
    chosen: Candidate | None
    reason: str


def search(space: Space, budget: Budget, workshop: Workshop, progress: Progress) -> Outcome:
    """Find the best file within a budget.

    Args:
        space: The space.
        budget: The budget.
        workshop: Makes and measures files.
        progress: Receives the progress.

    Returns:
        The outcome.

    Raises:
        KerasBertError: When the file of no structure is within the budget's time and size; the message names the nearest.
    """
    probes = _probe(space, budget, workshop, progress)
    fitting = [each for each, cost in probes.items() if budget.excess(cost) <= 1]
    if not fitting:
        nearest = min(probes, key=lambda each: budget.excess(probes[each]))
        raise KerasBertError(
            f"expected a budget that a file can meet, received {str(budget)!r}; the nearest is {nearest} "
            f"({probes[nearest].describe()}); allow more, or name other encoders as {argument('model')}"
        )
    fitting = _by_turns(sorted(fitting, key=lambda each: -probes[each].seconds), list(space.layers))
    # Every structure is tried at the recommended rate before one is tried at another.
    candidates = [replace(each, rate=rate) for rate in RATES for each in fitting][: space.trials]
    trials = {each: Trial(each) for each in candidates}
    plan = rounds(space.rows, LEAST_ROWS, len(candidates), FINALISTS)

    def scores(candidates: Sequence[Candidate], rows: int | None) -> list[tuple[Candidate, float]]:
        """Train candidates, and return those that could be trained with their scores."""
        found: list[tuple[Candidate, float]] = []
        faults: list[KerasBertError] = []
        size = "all" if rows is None else f"{rows:,}"
        for candidate, score in workshop.scores(candidates, rows):
            if isinstance(score, KerasBertError):
                faults.append(score)
                progress.note(f"{candidate}: left out: {score}")
                continue
            trials.setdefault(candidate, Trial(candidate)).scores[rows or 0] = score
            progress.note(f"{candidate}: {score:.4f} after {size} of {space.rows:,} rows")
            found.append((candidate, score))
        if not found:
            raise faults[0]
        return found

    def cost(candidate: Candidate) -> float:
        return probes[candidate.structure].seconds

    def order(scored: Sequence[tuple[Candidate, float]]) -> list[Candidate]:
        return by_score(scored) if budget.limits_cost else by_cost(scored, cost, budget.keeps)

    finalists = halve(candidates, plan, FINALISTS, scores, order)
    reference = next(iter(probes))  # a whole encoder: its parts are probed after it
    if budget.loss is not None and reference not in finalists:
        scores([reference], None)
    elif budget.loss is None:
        reference = finalists[0]
    measured = workshop.finals(list(dict.fromkeys([reference, *finalists])))
    for each, (found, value) in measured.items():
        trials[each].cost, trials[each].file_score = found, value
    chosen, reason = _choose(measured, budget)
    order_of = sorted(
        trials, key=lambda each: (each != chosen, each not in measured, -max(trials[each].scores.values(), default=-1))
    )
    return Outcome(probes, [trials[each] for each in order_of if trials[each].scores], reference, chosen, reason)


def _by_turns(candidates: Sequence[Candidate], models: Sequence[str]) -> list[Candidate]:
    """Order candidates so that each encoder's first comes before any second one: few trials try them all."""
    turns = [[each for each in candidates if each.model == model] for model in models]
    return [each for turn in itertools.zip_longest(*turns) for each in turn if each is not None]


def _probe(space: Space, budget: Budget, workshop: Workshop, progress: Progress) -> dict[Candidate, Cost]:
    """Measure structures, from the whole encoders down, until those within the budget are known."""
    found: dict[Candidate, Cost] = {}
    faults: list[KerasBertError] = []

    def probe(candidate: Candidate) -> float:
        """Return how far a candidate is over the budget; infinitely far where it cannot be made, such as neurons cut from a MobileBERT."""
        try:
            found[candidate] = workshop.cost(candidate)
        except KerasBertError as error:
            faults.append(error)
            progress.note(f"{candidate}: left out: {error}")
            return math.inf
        fits = "within" if budget.excess(found[candidate]) <= 1 else "over"
        progress.note(f"{candidate}: {found[candidate].describe()}, {fits} the budget")
        return budget.excess(found[candidate])

    for model, layers in space.layers.items():
        for recipe in space.recipes:
            whole = Candidate(model, recipe=recipe)
            if probe(whole) <= 1 and budget.limits_cost:
                continue  # a smaller structure of the same encoder is worse
            if whole not in found:
                continue
            fewer = list(dict.fromkeys([*(math.ceil(layers * part / 3) for part in (2, 1)), 1]))
            narrower = [replace(whole, feed_forward=NARROW)] if layers else []  # static vectors have no layers
            for smaller in [*narrower, *(replace(whole, layers=each) for each in fewer if each < layers)]:
                if budget.bytes is not None and found[whole].bytes > budget.bytes:
                    smaller = replace(smaller, vocabulary=True)
                if probe(smaller) <= 1 and budget.limits_cost and smaller.layers:
                    break  # so is one of fewer layers
            if budget.bytes is not None and found[whole].bytes > budget.bytes:
                probe(replace(whole, vocabulary=True))
    if not found:
        raise faults[0]
    return found


def _choose(measured: Mapping[Candidate, tuple[Cost, float]], budget: Budget) -> tuple[Candidate | None, str]:
    """Return the best file within the budget, and why it is the best; None and what comes nearest where none is."""
    best = max(score for _, score in measured.values())
    fitting = {
        each: (cost, score)
        for each, (cost, score) in measured.items()
        if budget.excess(cost) <= 1 and budget.keeps(score, best)
    }
    if not fitting:
        nearest = max(measured, key=lambda each: (budget.excess(measured[each][0]) <= 1, measured[each][1]))
        cost, score = measured[nearest]
        return (
            None,
            f"no file is within {budget}; the nearest is {nearest}: {score:.4f}, {cost.describe()} (best score {best:.4f})",
        )
    if budget.limits_cost:
        chosen = max(fitting, key=lambda each: (fitting[each][1], -fitting[each][0].seconds))
        return chosen, f"the best score of the files within {budget}"
    chosen = min(fitting, key=lambda each: fitting[each][0].seconds)
    return chosen, f"the fastest of the files within {budget}"
