"""The effect of quantizing one tensor alone on the task's outputs and its main metric."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kerasbert.compression.quantization.diagnosis import check_quantized
from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.compression.quantization.observers import (
    QuantizerKey,
    SelectiveQuantization,
    observe_quantizers,
    pack_rows,
)
from kerasbert.data.dataset import Dataset
from kerasbert.processors import Features
from kerasbert.processors.decisions import decides, same_decisions
from kerasbert.tasks.base import Task

_BATCH = 16  # rows


@dataclass(frozen=True)
class OutputEffect:
    """The difference of a task's outputs from those of the same weights in float.

    Attributes:
        error: Root mean square of the difference, relative to that of the float outputs; infinite where an output is not finite.
        agreement: Fraction of equal decisions; None for a task without decisions (regression, embeddings).
        metric: The task's main metric, from 0 to 1; None without labels.

    Example:
        ```python
        from kerasbert.compression import measure_effects
        effects = measure_effects(int8, texts, points=[], labels=labels, rows=8)
        effects.together.error, effects.together.agreement, effects.together.metric
        ```
    """

    error: float
    agreement: float | None
    metric: float | None


@dataclass(frozen=True)
class OutputEffects:
    """The effects of several tensors.

    Attributes:
        rows: Number of rows that were run.
        examples: Number of examples that the metric was computed on.
        metric: The main metric's name; None without labels.
        in_float: The main metric with nothing in 8 bits.
        together: The effect of all quantizers at once.
        alone: The effect of each requested quantizer with all others in float, by `PointLoss.key`.

    Example:
        ```python
        from kerasbert.compression import measure_effects
        effects = measure_effects(int8, texts, points=[], labels=labels, rows=8)
        effects.metric, effects.in_float, effects.together.metric
        ```
    """

    rows: int
    examples: int
    metric: str | None
    in_float: float | None
    together: OutputEffect
    alone: dict[QuantizerKey, OutputEffect]


def measure_effects(
    task: Task,
    data: Any,
    points: Iterable[QuantizerKey],
    labels: Any = None,
    rows: int = 64,
    report: Callable[[int, int], None] | None = None,
) -> OutputEffects:
    """Run a quantized task in float, then with everything in 8 bits, then with each quantizer alone.

    The cost is `rows` rows times the number of quantizers plus two.

    Args:
        task: A quantized task.
        data: Texts, a table, or anything that `score` takes.
        points: `PointLoss.key` of each quantizer to measure.
        labels: Labels as `score` takes them; None takes those of a table. Without labels no metric is computed.
        rows: Runs the examples whose rows are all among the first `rows`; at least one example.
        report: Called with the runs done and all runs.

    Returns:
        The effects, of all quantizers together and of each requested one.

    Raises:
        KerasBertError: When the task is not quantized, `rows` is below 1, the data have no known token, or the labels do not fit.

    Example:
        ```python
        from kerasbert.compression import diagnose, measure_effects
        points = [point.key for point in diagnose(int8, texts, rows=8)[:2]]
        effects = measure_effects(int8, texts, points, labels, rows=8)
        effects.alone[points[0]].agreement
        ```
    """
    check_quantized(task, rows)
    points = list(dict.fromkeys(points))
    examples, features = task.features(data, scoring=True)
    check_known_tokens(task, features, "run float and 8 bits on them")
    if labels is None and isinstance(data, Dataset):
        labels = data.y
    evaluation = _Evaluation(task, examples, features, labels, rows)
    quantized_keys: list[set[QuantizerKey] | None] = [set(), None, *({point} for point in points)]
    reference: _Outcome | None = None
    effects = []
    for done, keys in enumerate(quantized_keys, 1):
        with observe_quantizers(task, SelectiveQuantization(keys)):
            outcome = evaluation.run(task)
        if reference is None:
            reference = outcome
        else:
            effects.append(_effect(task, reference, outcome))
        if report is not None:
            report(done, len(quantized_keys))
    metric, in_float = reference.score if reference is not None and reference.score else (None, None)
    together, *alone = effects
    return OutputEffects(
        evaluation.count,
        len(evaluation.examples or ()),
        metric,
        in_float,
        together,
        dict(zip(points, alone, strict=True)),
    )


class _Outcome(NamedTuple):
    """Outputs of one run, one mapping a row, and the main metric's name and value; None without labels."""

    outputs: list[Mapping[str, np.ndarray]]
    score: tuple[str, float] | None


class _Evaluation:
    """The rows of every run, and the labels to score them by."""

    def __init__(self, task: Task, examples: Sequence | None, features: Features, labels: Any, limit: int):
        if examples is not None and len(features) > limit:  # whole examples: one may have several rows
            examples = examples[: max(1, int(features.example[limit]))]
            features = task.processor.scoring_features(examples, task.tokenizer, task.sequence_length)
        self.features = features
        self.count = len(features) if examples is not None else min(limit, len(features))
        self.labels = self.examples = None
        if examples is not None and (labels is not None or task.processor.self_supervised):
            self.examples, self.labels = examples, None if labels is None else labels[: len(examples)]
            if labels is not None:
                task.processor.encode_labels(self.labels, examples, features)

    def run(self, task: Task) -> _Outcome:
        """Run all rows."""
        processor, compared, raw_results = task.processor, [], []
        for start in range(0, self.count, _BATCH):
            batch = range(start, min(start + _BATCH, self.count))
            outputs = task.serve(pack_rows(task, self.features, batch))
            arrays = {name: task.by_row(values.numpy(), self.features.group) for name, values in outputs.items()}
            for position, row in enumerate(batch):
                row_outputs = {name: values[position] for name, values in arrays.items()}
                compared.append(processor.comparable(row_outputs, self.features, row))
                raw_results.append(processor.raw_result(row_outputs, self.features, row))
        if self.examples is None:
            return _Outcome(compared, None)
        metrics = processor.metrics(self.labels, self.examples, self.features, raw_results)
        return _Outcome(compared, next(iter(metrics.items())))


def _effect(task: Task, reference: _Outcome, outcome: _Outcome) -> OutputEffect:
    comparison, noise, signal, same = task.processor.compared_as, 0.0, 0.0, []
    for reference_row, row in zip(reference.outputs, outcome.outputs, strict=True):
        for name in reference_row:
            expected, received = np.asarray(reference_row[name], np.float64), np.asarray(row[name], np.float64)
            noise += float(np.square(received - expected).sum())
            signal += float(np.square(expected).sum())
            if decides(comparison, expected.shape[1]):
                same.append(same_decisions(expected, received, comparison).ravel())
    error = float(np.sqrt(noise / max(signal, 1e-30))) if np.isfinite(noise) else float("inf")
    agreement = float(np.concatenate(same).mean()) if same else None
    return OutputEffect(error, agreement, outcome.score[1] if outcome.score else None)
