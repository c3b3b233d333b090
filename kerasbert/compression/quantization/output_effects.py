"""What 8 bits at one point cost the task: its output and its metric, with all else in float."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.compression.quantization.diagnosis import check_quantized
from kerasbert.compression.quantization.known_tokens import check_words
from kerasbert.compression.quantization.observers import Key, QuantizesOnly, observed, packed
from kerasbert.data.table import is_table
from kerasbert.processors.base import RawResult
from kerasbert.processors.decisions import decides, same_decisions

_BATCH = 16  # rows that run at once


@dataclass(frozen=True)
class OutputEffect:
    """How far the task's outputs are from those of the same weights in float.

    Attributes:
      error: root mean square of the difference, as a share of that of the float outputs; infinite where an output is no number.
      agreement: share of equal decisions; None for a task that makes none (a score, a vector).
      metric: the task's main metric, 0..1; None without labels.
    """

    error: float
    agreement: float | None
    metric: float | None


@dataclass(frozen=True)
class OutputEffects:
    """What points cost the task.

    Attributes:
      rows: token rows that were run.
      examples: examples that the metric was computed on.
      metric: the main metric's name; None without labels.
      in_float: that metric without anything in 8 bits.
      together: all points at once.
      alone: each of the points that were asked for, all others in float, by `PointLoss.key`.
    """

    rows: int
    examples: int
    metric: str | None
    in_float: float | None
    together: OutputEffect
    alone: dict[Key, OutputEffect]


def measure_effects(
    task, data, points: Iterable[Key], labels=None, rows: int = 64, report: Callable[[int, int], None] | None = None
) -> OutputEffects:
    """Runs a quantized task in float, then with everything in 8 bits, then with one point after the other alone in 8 bits.

    The cost is that of `rows` rows times the number of points and two.

    Args:
      task: a quantized task.
      data: texts, a table, or anything that the task scores.
      points: `PointLoss.key` of each point to judge.
      labels: what `score` takes; by default a table's own. Without labels no metric is computed.
      rows: run the examples whose token rows all lie among the first so many; at least one example.
      report: called with (runs done, all runs).

    Raises:
      KerasBertError: for a task that is not quantized, fewer than one row, data without a word, and labels that do not fit.
    """
    check_quantized(task, rows)
    points = list(dict.fromkeys(points))
    examples, found = task.features(data, scoring=True)
    check_words(task, found, "run float and 8 bits on them")
    if labels is None and is_table(data):
        labels = data.y
    chosen = _Chosen(task, examples, found, labels, rows)
    plans: list[set[Key] | None] = [set(), None, *({point} for point in points)]
    sides = []
    for done, plan in enumerate(plans, 1):
        with observed(task, QuantizesOnly(plan)):
            sides.append(chosen.judge(task))
        if len(sides) > 1:
            sides[-1] = _effect(task, sides[0], sides[-1])
        if report is not None:
            report(done, len(plans))
    (_, scored), together, *alone = sides
    metric, in_float = scored or (None, None)
    return OutputEffects(
        chosen.count, len(chosen.examples or ()), metric, in_float, together, dict(zip(points, alone, strict=True))
    )


class _Chosen:
    """The rows that are run, with what is needed to score them."""

    def __init__(self, task, examples: Sequence | None, rows, labels, limit: int):
        if examples is not None and len(rows) > limit:  # whole examples: one may have several rows
            examples = examples[: max(1, int(rows.example[limit]))]
            rows = task.processor.scoring_features(examples, task.tokenizer, task.sequence_length)
        self.rows, self.count = rows, len(rows) if examples is not None else min(limit, len(rows))
        self.labels = self.examples = None
        if examples is not None and (labels is not None or task.processor.self_supervised):
            self.examples, self.labels = examples, None if labels is None else labels[: len(examples)]
            if labels is not None:
                task.processor.encode_labels(self.labels, examples, rows)

    def judge(self, task) -> tuple[list[RawResult], tuple[str, float] | None]:
        """What is compared of each row, and the main metric's name and value."""
        processor, compared, raw_results = task.processor, [], []
        for start in range(0, self.count, _BATCH):
            batch = range(start, min(start + _BATCH, self.count))
            outputs = task.serve(packed(task, self.rows, batch))
            outputs = {name: task.by_row(values.numpy(), self.rows.group) for name, values in outputs.items()}
            for place, row in enumerate(batch):
                one = {name: values[place] for name, values in outputs.items()}
                compared.append(processor.comparable(one, self.rows, row))
                raw_results.append(processor.raw_result(one, self.rows, row))
        if self.examples is None:
            return compared, None
        return compared, next(iter(processor.metrics(self.labels, self.examples, self.rows, raw_results).items()))


def _effect(task, reference: tuple, model: tuple) -> OutputEffect:
    way, noise, signal, same = task.processor.compared_as, 0.0, 0.0, []
    for one, other in zip(reference[0], model[0], strict=True):
        for name in one:
            wanted, received = np.asarray(one[name], np.float64), np.asarray(other[name], np.float64)
            noise += float(np.square(received - wanted).sum())
            signal += float(np.square(wanted).sum())
            if decides(way, wanted.shape[1]):
                same.append(same_decisions(wanted, received, way).ravel())
    error = float(np.sqrt(noise / max(signal, 1e-30))) if np.isfinite(noise) else float("inf")
    agreement = float(np.concatenate(same).mean()) if same else None
    return OutputEffect(error, agreement, model[1][1] if model[1] else None)
