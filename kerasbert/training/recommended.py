"""The learning rates and the number of epochs that suit a model: those that its folder recommends, else those for its size."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.files.model_folder import read_own_config
from kerasbert.files.training_recommendation import Recommendation, read_recommendation
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import StudentTraining

# Rates by hidden size. From 1024: Devlin et al. 2018, appendix A.3. 768: the same. 512 and 256: Turc et al. 2019 and Clark et al. 2020,
# whose small models train at 1e-4 to 3e-4. Below: measured with the encoders of the zoo, benchmarks/training/defaults.py.
_RATES = ((1024, 2e-5), (768, 5e-5), (512, 1e-4), (256, 3e-4), (0, 5e-4))
_EPOCHS = 3  # Devlin et al. 2018, appendix A.3: 2 to 4
_EPOCHS_OF_SMALL = 6  # below a hidden size of 512
# A new head of a narrow encoder, and the pooler that it reads, need a higher rate than the encoder; measured in the same way.
_HEAD_FACTOR_OF_SMALL = 10.0  # below a hidden size of 512
_OUTPUT_LAYERS = frozenset(("classifier", "token_classifier", "qa_outputs", "choice_classifier", "next_sentence"))
# Small data have more epochs: a new head learns nothing in a few dozen steps. Mosbach et al. 2021 train 20 epochs on small data.
LEAST_STEPS, MOST_EPOCHS = 600, 20


def recommended_for_size(hidden_size: int) -> Recommendation:
    """Return the recommendation for an encoder of some width.

    Args:
        hidden_size: The encoder's hidden size.
    """
    rate = next(rate for least, rate in _RATES if hidden_size >= least)
    epochs, factor = (_EPOCHS, 1.0) if hidden_size >= 512 else (_EPOCHS_OF_SMALL, _HEAD_FACTOR_OF_SMALL)
    return Recommendation(rate, epochs, f"hidden size {hidden_size}", factor)


def recommended_for(task: "Task | StudentTraining") -> Recommendation:
    """Return the recommendation for a task: that of the folder it was loaded from, else that for its size.

    Args:
        task: The task, or a `StudentTraining`.
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
    config: TrainConfig, task: "Task | StudentTraining", rows: int, share: float = 1.0
) -> tuple[TrainConfig, list[str]]:
    """Return a config with the recommended rates and epochs where it has none, and lines that say so.

    A given learning rate is that of all parts, as in other libraries.

    Args:
        config: The settings.
        task: The task, or a `StudentTraining`.
        rows: The number of training rows.
        share: The fraction of the recommended rate for training a trained model on, as in quantization-aware training.
    """
    recommended = recommended_for(task)
    lines: list[str] = []
    values: dict[str, Any] = {}
    share *= config.rate_factor
    if config.learning_rate is None:
        values["learning_rate"] = float(f"{recommended.learning_rate * share:.3g}")
        part = "recommended" if share == 1 else f"{share:g} of the {recommended.learning_rate:g} recommended"
        lines.append(f"learning rate {values['learning_rate']:g}, {part} for {recommended.source}")
        parts = _parts_of_new_head(task) if recommended.head_factor != 1 and not config.rates else ()
        if parts:
            rate = float(f"{values['learning_rate'] * recommended.head_factor:.3g}")
            values["rates"] = dict.fromkeys(parts, rate)
            lines.append(
                f"learning rate {rate:g} of the new {' and the '.join(parts)}, {recommended.head_factor:g} times the encoder's, "
                f"recommended for {recommended.source}"
            )
    if config.epochs is None:
        batches = -(-rows // config.batch_size)
        values["epochs"] = max(recommended.epochs, min(MOST_EPOCHS, -(-LEAST_STEPS // batches)))
        reason = f"recommended for {recommended.source}"
        if values["epochs"] > recommended.epochs:
            reason = f"as {rows:,} training rows are few: {values['epochs'] * batches:,} steps"
        lines.append(f"epochs {values['epochs']}, {reason}")
    return replace(config, **values, **({"rate_factor": 1.0} if "learning_rate" in values else {})), lines


def _parts_of_new_head(task: "Task | StudentTraining") -> tuple[str, ...]:
    """Return the parts of output layers that were not trained before: exits, the head, and the pooler that it reads."""
    from kerasbert.optimizers.parameter_groups import group_names  # not at the top: it loads TensorFlow

    student: Any = getattr(task, "student", task)
    exits = ("exits",) if student.has_new_exits else ()
    if not student.has_new_head or _OUTPUT_LAYERS.isdisjoint(student.heads):
        return exits
    pooler = ("pooler",) if student.pools and "pooler" in group_names(student) else ()
    return ("head", *pooler, *exits)
