"""Early exit without TensorFlow: the names of a stage's outputs, and the threshold of confidence that keeps a share of the score."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.arguments import argument, shown
from kerasbert.errors import KerasBertError
from kerasbert.processors.base import Processor, RawResult, RawResults
from kerasbert.processors.features import Features
from kerasbert.processors.labelled_outputs import LabelledOutputs
from kerasbert.values import is_number

CONFIDENCE, HIDDEN, ATTENTION_MASK = "confidence", "hidden", "attention_mask"  # beside the outputs of the task
LAYERS = "layers"  # the output that says after how many layers a row ended
_CANDIDATES = 256  # thresholds to compare


@dataclass(frozen=True)
class ExitScore:
    """One exit on dev data.

    Attributes:
        layer: The layers before it.
        score: The main metric if every text ended there.
        share: The share of the texts that end there.
    """

    layer: int
    score: float
    share: float


@dataclass(frozen=True)
class ExitChoice:
    """A threshold that was chosen on dev data, and what it does there.

    Attributes:
        threshold: The confidence from which on a text ends.
        metric: The name of the main metric.
        score: The metric with the threshold.
        whole: The metric of the last exit.
        layers: The mean number of layers that a text takes.
        exits: Each exit, the last one included.

    Example:
        ```python
        deep = kb.TextClassifier.from_pretrained("small-en", labels=["negative", "positive"], sequence_length=32, exits=[2])
        deep.compile(optimizer=kb.adamw(5e-4))
        deep.fit(texts, labels, epochs=1)
        choice = deep.tune_exits(texts, labels, keep=0.99)
        choice.threshold, choice.layers
        ```
    """

    threshold: float
    metric: str
    score: float
    whole: float
    layers: float
    exits: tuple[ExitScore, ...]


def raw_result_of(processor: Processor, outputs: RawResult, features: Features, row: int) -> RawResult:
    """Return a row's raw result; of a model with early exits also after how many layers it ended, as `layers`.

    Args:
        processor: The task's processor.
        outputs: Outputs of the row by name, see `Processor.raw_result`.
        features: All rows.
        row: The row's number.
    """
    raw_result = processor.raw_result(outputs, features, row)
    return raw_result if LAYERS not in outputs else {**raw_result, LAYERS: outputs[LAYERS]}


def with_layers(predictions: list, features: Features, raw_results: RawResults) -> list:
    """Return predictions with `layers`, the most layers that a row of the example took; as they are without early exits."""
    if not raw_results or LAYERS not in raw_results[0]:
        return predictions
    return [
        {**prediction, LAYERS: max(int(np.max(raw_results[row][LAYERS])) for row in rows)}
        for prediction, rows in zip(predictions, features.by_example(), strict=True)
    ]


def with_mean_layers(metrics: dict[str, float], raw_results: RawResults) -> dict[str, float]:
    """Return metrics with `layers`, the mean number that a row took; as they are without early exits."""
    if not raw_results or LAYERS not in raw_results[0]:
        return metrics
    return {**metrics, LAYERS: float(np.mean([np.mean(each[LAYERS]) for each in raw_results]))}


def check_threshold(value: Any) -> float | None:
    """Return the threshold of exits, or None.

    Raises:
        KerasBertError: When it is not a number from 0 to 1.
    """
    if value is not None and not is_number(value, 0, 1):
        raise KerasBertError(
            f"expected exit_threshold as a number from 0 to 1, received {shown(value)}; it is a probability"
        )
    return None if value is None else float(value)


def check_keep(value: Any) -> float:
    """Return the share of the score that early exits keep.

    Raises:
        KerasBertError: When it is not a number above 0 and at most 1.
    """
    if not is_number(value, 0, 1) or value == 0:
        raise KerasBertError(
            f"expected {argument('keep')} as a number above 0 and at most 1, received {shown(value)}; it is a share"
        )
    return float(value)


def choose(
    processor: Processor,
    labelled: LabelledOutputs,
    raw_results: Sequence[Sequence[RawResult]],
    confidences: np.ndarray,
    layers: Sequence[int],
    keep: float,
) -> ExitChoice:
    """Choose the lowest threshold that keeps a share of the last exit's score.

    Args:
        processor: The task's processor.
        labelled: What metrics need; its raw results are not read.
        raw_results: Those of each exit, one entry a row.
        confidences: Of each exit and row, `(exits, rows)`.
        layers: The layers before each exit, rising.
        keep: The share of the main metric.

    Raises:
        KerasBertError: When `keep` is no share.
    """
    keep = check_keep(keep)

    def score(ends: np.ndarray) -> tuple[str, float]:
        chosen = [raw_results[exit_][row] for row, exit_ in enumerate(ends)]
        return next(iter(processor.metrics(*labelled[:3], chosen).items()))

    last, rows = len(layers) - 1, confidences.shape[1]
    metric, whole = score(np.full(rows, last))
    threshold, ends, kept = 1.0, ends_at(confidences, 1.0), whole
    for candidate in _candidates(confidences[:-1]):
        candidate_ends = ends_at(confidences, candidate)
        value = score(candidate_ends)[1]
        if value >= keep * whole:
            threshold, ends, kept = candidate, candidate_ends, value
            break
    scores = [score(np.full(rows, number))[1] for number in range(last + 1)]
    exits = tuple(
        ExitScore(layer, value, float(np.mean(ends == number)))
        for number, (layer, value) in enumerate(zip(layers, scores, strict=True))
    )
    return ExitChoice(threshold, metric, kept, whole, float(np.take(layers, ends).mean()), exits)


def ends_at(confidences: np.ndarray, threshold: float) -> np.ndarray:
    """Return the exit at which each row ends, `(rows,)`, for the confidences `(exits, rows)`."""
    sure = confidences >= threshold
    sure[-1] = True
    return sure.argmax(axis=0)


def _candidates(confidences: np.ndarray) -> list[float]:
    """Return thresholds between the confidences, rising; at most some hundred."""
    values = np.unique(confidences.astype(np.float64))
    between = np.concatenate([[values[0] / 2], (values[1:] + values[:-1]) / 2])
    some = between[np.unique(np.linspace(0, len(between) - 1, _CANDIDATES).round().astype(int))]
    return [round(float(each), 6) for each in some]
