"""The outcome of a search as a table for the terminal, as JSON, and as a page."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kerasbert.console import tables
from kerasbert.selection.budget import Budget, Cost
from kerasbert.selection.candidate import Candidate
from kerasbert.selection.search import Outcome, Trial

_COLUMNS = ("candidate", "rows", "score", "file's score", "ms", "MB")
Commands = Callable[[Candidate], Sequence[Sequence[str]]]


def blocks(outcome: Outcome, budget: Budget, metric: str) -> list[tables.Block]:
    """Return the outcome as text.

    Args:
        outcome: The outcome.
        budget: The budget.
        metric: The name of the score.
    """
    facts = [("budget", str(budget)), ("score", f"{metric} on dev"), ("probed", f"{len(outcome.probes)} structures"),
             ("trained", f"{len(outcome.trials)} candidates"), ("chosen", f"{outcome.chosen}: {outcome.reason}")]  # fmt: skip
    return [tables.Facts(facts), tables.Table(_COLUMNS, _rows(outcome))]


def as_dict(outcome: Outcome, budget: Budget, metric: str, commands: Commands) -> dict[str, Any]:
    """Return the outcome for JSON.

    Args:
        outcome: The outcome.
        budget: The budget.
        metric: The name of the score.
        commands: Returns the commands that make the file of a candidate that was trained on all rows.
    """
    return {
        "budget": budget.to_dict(),
        "metric": metric,
        "chosen": outcome.chosen and str(outcome.chosen),
        "reason": outcome.reason,
        "probes": [{**each.to_dict(), **cost.to_dict()} for each, cost in outcome.probes.items()],
        "trials": [_trial(each, commands) for each in outcome.trials],
    }


def write_page(
    path: Path, outcome: Outcome, budget: Budget, metric: str, data: str, commands: Commands, machine: Mapping[str, str]
) -> Path:
    """Write the outcome as a page: a table, the best scores by time and by size, and the commands that make each file again.

    Args:
        path: The file, `.html`.
        outcome: The outcome.
        budget: The budget.
        metric: The name of the score.
        data: The name of the data.
        commands: Returns the commands that make the file of a candidate that was trained on all rows.
        machine: The processor and the versions.

    Raises:
        KerasBertError: When a file is there that kerasbert did not write.
    """
    from kerasbert.export.reporting.frontier import Point
    from kerasbert.export.reporting.report import Points, Section, Table, write_html

    finals = [
        (each, each.cost, each.file_score) for each in outcome.trials if each.cost and each.file_score is not None
    ]
    times = [Point(str(each.candidate), 1e3 * cost.seconds, score) for each, cost, score in finals]
    sizes = [Point(str(each.candidate), cost.bytes / 1e6, score) for each, cost, score in finals]
    joined = "The line joins the files that no other one beats in both."
    made = [(str(each.candidate), line) for each, _, _ in finals for line in _lines(commands(each.candidate))]
    sections: list[Section] = [
        Table("Candidates", _COLUMNS, _rows(outcome), f"Budget: {budget}. Chosen: {outcome.chosen}: {outcome.reason}."),
        Points("Score and latency", times, "milliseconds a text (median)", metric, joined),
        Points("Score and size", sizes, "megabytes", metric, joined),
        Table("Probes", ("structure", "ms", "MB", "within the budget"), [
            (str(each), *_cost(cost), "yes" if budget.excess(cost) <= 1 else "no") for each, cost in outcome.probes.items()
        ], "Trained for one epoch on a few rows, to measure what the file costs."),
        Table("Commands", ("candidate", "command"), made, "One after the other, they make each file again."),
    ]  # fmt: skip
    return write_html(path, title=f"The best file for {data} under {budget}", sections=sections, machine=machine)


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    return [
        (
            ("* " if each.candidate == outcome.chosen else "") + str(each.candidate),
            " ".join("all" if not rows else f"{rows:,}" for rows in each.scores),
            " ".join(f"{score:.4f}" for score in each.scores.values()),
            "-" if each.file_score is None else f"{each.file_score:.4f}",
            *_cost(each.cost or outcome.probes.get(each.candidate.structure)),
        )
        for each in outcome.trials
    ]


def _cost(cost: Cost | None) -> tuple[str, str]:
    return ("-", "-") if cost is None else (f"{1e3 * cost.seconds:.2f}", f"{cost.bytes / 1e6:.2f}")


def _trial(trial: Trial, commands: Commands) -> dict[str, Any]:
    return {
        **trial.candidate.to_dict(),
        "name": str(trial.candidate),
        "scores": [{"rows": rows or None, "score": score} for rows, score in trial.scores.items()],
        "file_score": trial.file_score,
        **({} if trial.cost is None else trial.cost.to_dict()),
        "commands": _lines(commands(trial.candidate)) if trial.file_score is not None else [],
    }


def _lines(commands: Sequence[Sequence[str]]) -> list[str]:
    return [shlex.join(["kerasbert", *each]) for each in commands]
