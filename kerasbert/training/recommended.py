"""The learning rate and the number of epochs that suit a model: those that its folder recommends, else those for its size."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.files.model_folder import read_own_config
from kerasbert.files.training_recommendation import Recommendation, read_recommendation
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import Distiller

# Rates by hidden size. From 1024: Devlin et al. 2018, appendix A.3. 768: the same. 512 and 256: Turc et al. 2019 and Clark et al. 2020,
# whose small models train at 1e-4 to 3e-4. Below: measured with the encoders of the zoo, benchmarks/training/defaults.py.
_RATES = ((1024, 2e-5), (768, 5e-5), (512, 1e-4), (256, 3e-4), (0, 5e-4))
_EPOCHS = 3  # Devlin et al. 2018, appendix A.3: 2 to 4
_EPOCHS_OF_SMALL = 6  # below a hidden size of 512
# Small data have more epochs: a new head learns nothing in a few dozen steps.
LEAST_STEPS, MOST_EPOCHS = 400, 20


def recommended_for_size(hidden_size: int) -> Recommendation:
    """Return the recommendation for an encoder of some width.

    Args:
        hidden_size: The encoder's hidden size.
    """
    rate = next(rate for least, rate in _RATES if hidden_size >= least)
    return Recommendation(rate, _EPOCHS if hidden_size >= 512 else _EPOCHS_OF_SMALL, f"hidden size {hidden_size}")


def recommended_for(task: "Task | Distiller") -> Recommendation:
    """Return the recommendation for a task: that of the folder it was loaded from, else that for its size.

    Args:
        task: The task, or a `Distiller`.
    """
    return task.recommended or recommended_for_size(task.config.hidden_size)


def recommended_for_folder(folder: str | os.PathLike) -> Recommendation:
    """Return the recommendation for a checkpoint's folder.

    Args:
        folder: The folder.

    Raises:
        KerasBertError: When its files are damaged.
    """
    from kerasbert.checkpoints.hugging_face import read_config  # not at the top: it loads NumPy

    folder = Path(folder)
    config = read_config(folder)
    own = read_recommendation(read_own_config(folder), folder)
    return own or recommended_for_size(config.get("hidden_size", config.get("dim", 768)))


def settled(
    config: TrainConfig, task: "Task | Distiller", rows: int, share: float = 1.0
) -> tuple[TrainConfig, list[str]]:
    """Return a config with the recommended rate and epochs where it has none, and lines that say so.

    Args:
        config: The settings.
        task: The task, or a `Distiller`.
        rows: The number of training rows.
        share: The fraction of the recommended rate for training a trained model on, as in quantization-aware training.
    """
    recommended = recommended_for(task)
    lines: list[str] = []
    values: dict[str, Any] = {}
    if config.learning_rate is None:
        values["learning_rate"] = float(f"{recommended.learning_rate * share:.3g}")
        part = "recommended" if share == 1 else f"{share:g} of the {recommended.learning_rate:g} recommended"
        lines.append(f"learning rate {values['learning_rate']:g}, {part} for {recommended.source}")
    if config.epochs is None:
        batches = -(-rows // config.batch_size)
        values["epochs"] = max(recommended.epochs, min(MOST_EPOCHS, -(-LEAST_STEPS // batches)))
        reason = f"recommended for {recommended.source}"
        if values["epochs"] > recommended.epochs:
            reason = f"as {rows:,} training rows are few: {values['epochs'] * batches:,} steps"
        lines.append(f"epochs {values['epochs']}, {reason}")
    return replace(config, **values), lines
