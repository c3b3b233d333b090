"""Fine-tuning: settings, runs, freezing, losses and optimizers. Names load on first use, so that a config needs no TensorFlow."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kerasbert.losses import ContrastiveLoss, CosineLoss, CrossEntropy, InBatchNegatives, balanced_weights
    from kerasbert.optimizers.adamw import adamw
    from kerasbert.optimizers.schedules import WarmupConstant, WarmupCosineDecay, WarmupLinearDecay
    from kerasbert.tasks.freezing import freeze, train_only, unfreeze
    from kerasbert.training.config import TrainConfig
    from kerasbert.training.run_folder import RunFolder
    from kerasbert.training.trainer import TrainResult, train
    from kerasbert.training.unfreezing import GradualUnfreezing

_MODULES = {
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

__all__ = [
    "ContrastiveLoss",
    "CosineLoss",
    "CrossEntropy",
    "GradualUnfreezing",
    "InBatchNegatives",
    "RunFolder",
    "TrainConfig",
    "TrainResult",
    "WarmupConstant",
    "WarmupCosineDecay",
    "WarmupLinearDecay",
    "adamw",
    "balanced_weights",
    "freeze",
    "train",
    "train_only",
    "unfreeze",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'kerasbert.training' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
