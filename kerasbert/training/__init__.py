"""Fine-tuning: optimizers, losses, what is trained, runs. Names are looked up when first used: recipes need no TensorFlow."""

import importlib

_HOMES = {
    "ContrastiveLoss": "pair_losses",
    "CosineLoss": "pair_losses",
    "CrossEntropy": "losses",
    "GradualUnfreezing": "unfreezing",
    "InBatchNegatives": "pair_losses",
    "WarmupConstant": "schedules",
    "WarmupCosineDecay": "schedules",
    "WarmupLinearDecay": "schedules",
    "adamw": "optimizers",
    "balanced_weights": "losses",
    "freeze": "freezing",
    "train_only": "freezing",
    "unfreeze": "freezing",
    "Recipe": "recipe",
    "RunFolder": "run_folder",
    "Settings": "running",
    "run": "running",
}

__all__ = [*_HOMES, "register"]


def register() -> None:
    """Makes optimizers, schedules and losses known to Keras, which looks for those of a saved model by their registered names."""
    for module in ("losses", "optimizers", "pair_losses", "schedules"):
        importlib.import_module(f"kerasbert.training.{module}")


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(f"kerasbert.training.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'kerasbert.training' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
