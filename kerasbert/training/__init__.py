"""Optimizers and schedules."""

from kerasbert.training.optimizers import WarmupLinearDecay, adamw

__all__ = ["WarmupLinearDecay", "adamw"]
