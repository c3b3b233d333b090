"""Scores of a model on labelled examples, compared with those of the reference example by example."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.comparison.results import Estimate
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.validation.comparison import Evidence, Metric
from kerasbert.export.validation.confidence import (
    correlation_bounds,
    half_width,
    independent_decisions,
    share_bounds,
)
from kerasbert.processors import Processor, metrics
from kerasbert.processors.contributions import Contributions, Correlation
from kerasbert.processors.exits import with_mean_layers

Decisions = list[tuple[Any, ...]] | np.ndarray | None


@dataclass(frozen=True)
class Answers:
    """What a model answers on labelled examples.

    Attributes:
        metrics: The task's metrics by name, the main one first.
        contributions: The contribution of each example to that one; None where it is unknown.
        decisions: See `Processor.decisions`.
    """

    metrics: dict[str, float]
    contributions: Contributions | None
    decisions: Decisions

    @classmethod
    def of(cls, pipeline: Pipeline, examples: Sequence, y: Any, report: Any) -> "Answers":
        """Run a model on examples.

        Args:
            pipeline: The model.
            examples: The examples, as its processor takes them.
            y: Their labels; None for a task that makes its own.
            report: Called with the rows done and all rows.

        Raises:
            KerasBertError: When an example or a label cannot be used, or outputs are not finite.
        """
        outputs, processor = pipeline.labelled_outputs(examples, y, report), pipeline.processor
        decisions = None if processor.self_supervised else processor.decisions(*outputs[1:])
        scores = with_mean_layers(processor.metrics(*outputs), outputs.raw_results)
        return cls(scores, processor.contributions(*outputs), decisions)

    @property
    def metric(self) -> str:
        """The name of the main metric."""
        return next(iter(self.metrics))

    @property
    def score(self) -> Estimate | None:
        """The main metric with its bounds."""
        value, parts = self.metrics[self.metric], self.contributions
        if parts is None:
            return Estimate.of(value)
        width = half_width(float(np.std(parts.influence)), parts.worth, len(parts.influence))
        least = -1.0 if isinstance(parts, Correlation) else 0.0
        return Estimate.of(value, (max(value - width, least), min(value + width, 1.0)))

    def against(self, reference: "Answers") -> Metric:
        """Return the main metric beside that of a reference on the same examples."""
        sides = reference.contributions, self.contributions
        evidence = None if sides[0] is None or sides[1] is None else Evidence.of(sides[0], sides[1])
        return Metric(reference.metric, reference.metrics[reference.metric], self.metrics[reference.metric], evidence)

    def kept(self, reference: "Answers") -> Estimate | None:
        """Return the share of the reference's main metric; None where that is not above 0."""
        metric = self.against(reference)
        return Estimate.of(metric.share, metric.share_bounds()) if metric.reference > 0 else None

    def agreement(self, reference: "Answers") -> Estimate | None:
        """Return the share of decisions that equal the reference's, or the correlation with its numbers."""
        mine, theirs = self.decisions, reference.decisions
        if mine is None or theirs is None:
            return None
        if isinstance(mine, np.ndarray) or isinstance(theirs, np.ndarray):
            if min(np.ptp(mine), np.ptp(theirs)) == 0:
                return None
            correlation = metrics.pearson(np.asarray(theirs), np.asarray(mine))
            return Estimate.of(correlation, correlation_bounds(correlation, len(mine)))
        counts = [(sum(map(_same, *pair)), len(pair[0])) for pair in zip(mine, theirs, strict=True)]
        same, decisions = np.array(counts, np.float64).T
        if not decisions.any():
            return None
        share = float(same.sum() / decisions.sum())
        return Estimate.of(share, share_bounds(share, independent_decisions(same, decisions)))


def _same(first: Any, second: Any) -> bool:
    return first == second


def check_labels_by_name(y: Any, first: tuple[str, Processor], other: tuple[str, Processor]) -> None:
    """Check that labels mean the same for two models: numbers do not where their labels have another order.

    Args:
        y: The labels as a user wrote them.
        first: The name and the processor of one model.
        other: Those of another one with the same labels.

    Raises:
        KerasBertError: When there are numbers among the labels, and the orders differ.
    """
    (name, processor), (other_name, other_processor) = first, other
    order = _order(processor)
    if order == _order(other_processor) or not _has_numbers(y, {label for labels in order for label in labels or ()}):
        return
    raise KerasBertError(
        f"expected labels by name, because {name} and {other_name} have them in another order, received numbers; write the names"
    )


def _order(processor: Processor) -> list[tuple[str, ...] | None]:
    parts = getattr(processor, "parts", None)
    return [processor.labels] if not parts else [parts[name].labels for name in sorted(parts)]


def _has_numbers(y: Any, labels: set[str]) -> bool:
    """Tell whether labels, nested as the task takes them, have a number that is no label's name."""
    if isinstance(y, str | bytes):
        return str(y).strip().isdigit() and y not in labels
    if isinstance(y, dict):
        return any(_has_numbers(each, labels) for key, each in y.items() if key not in ("start", "end"))
    if isinstance(y, np.ndarray):
        return y.dtype.kind in "biuf" or any(_has_numbers(each, labels) for each in y.tolist())
    if isinstance(y, list | tuple):
        return any(_has_numbers(each, labels) for each in y)
    return isinstance(y, int | float | np.generic)
