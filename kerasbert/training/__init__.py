"""Fine-tuning: settings, runs, freezing, losses and optimizers. Names load on first use, so that a config needs no TensorFlow."""

import importlib
from typing import Any

_HOMES = {
    "ContrastiveLoss": "kerasbert.losses",
    "CosineLoss": "kerasbert.losses",
    "CrossEntropy": "kerasbert.losses",
    "GradualUnfreezing": "kerasbert.training.unfreezing",
    "InBatchNegatives": "kerasbert.losses",
    "RunFolder": "kerasbert.training.run_folder",
    "TrainConfig": "kerasbert.training.config",
    "TrainResult": "kerasbert.training.trainer",
    "WarmupConstant": "kerasbert.optimizers.schedules",
    "WarmupCosineDecay": "kerasbert.optimizers.schedules",
    "WarmupLinearDecay": "kerasbert.optimizers.schedules",
    "adamw": "kerasbert.optimizers.adamw",
    "balanced_weights": "kerasbert.losses",
    "freeze": "kerasbert.tasks.freezing",
    "train": "kerasbert.training.trainer",
    "train_only": "kerasbert.tasks.freezing",
    "unfreeze": "kerasbert.tasks.freezing",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kerasbert.training' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
