"""The outcome of a training run, and lines about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kerasbert.processors.labelled_outputs import LabelledOutputs


@dataclass(frozen=True)
class TrainResult:
    """The outcome of a training run.

    Attributes:
        epochs: One record per epoch, `{"epoch": 1, "loss": ..., "accuracy": ..., "dev": {...}}`.
        kept_epoch: The epoch whose weights the task has now, 1 for the first; None for an untrained task.
        seconds: Training time without evaluation and saving.
        examples_per_second: Training throughput.
        outputs: The task's outputs on dev after the kept epoch; None without dev data.

    Example:
        ```python
        from kerasbert.training import TrainResult
        result = TrainResult(epochs=[{"epoch": 1, "loss": 0.7, "dev": {"accuracy": 0.9}}], kept_epoch=1)
        result.dev["accuracy"]  # 0.9
        ```
    """

    epochs: list[dict[str, Any]] = field(default_factory=list)
    kept_epoch: int | None = None
    seconds: float = 0.0
    examples_per_second: float = 0.0
    outputs: LabelledOutputs | None = field(default=None, compare=False, repr=False)

    @property
    def dev(self) -> dict[str, float] | None:
        """The dev metrics of the kept epoch."""
        return self.epochs[self.kept_epoch - 1].get("dev") if self.kept_epoch else None


def format_kept_epoch(scores: Sequence[Mapping[str, float]], kept: int, dev_name: str) -> str:
    """Return a line that names the kept epoch and the reason, also for epochs with equal scores.

    Args:
        scores: The dev metrics of each epoch; the first metric decides.
        kept: The kept epoch, 1 for the first.
        dev_name: The name of the dev file.
    """
    metric = next(iter(scores[0]))
    values = [each[metric] for each in scores]
    best = values[kept - 1]
    if all(value == best == 0 for value in values):
        return (
            f"kept epoch {kept} of {len(values)}: {metric} is 0 on {dev_name} after every epoch, so the earliest is kept; "
            "train for more epochs, or change --learning-rate"
        )
    ties = sum(value == best for value in values) - 1
    order = "earlier" if best in values[: kept - 1] else "later"
    tie = f", tied with {ties} {order} {'epoch' if ties == 1 else 'epochs'}" if ties else ""
    return f"kept epoch {kept} of {len(values)}, the best by {metric} on {dev_name}{tie}"


def format_metrics(values: Mapping[str, float]) -> str:
    """Format metrics as `accuracy 0.8911, F1 0.8927, MCC 0.7823`.

    Args:
        values: The metrics by name.
    """
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())
