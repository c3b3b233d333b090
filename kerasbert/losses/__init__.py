"""Losses over classes, where positions may be ignored, and over pairs of vectors."""

from kerasbert.losses.classes import CrossEntropy, balanced_weights
from kerasbert.losses.pairs import ContrastiveLoss, CosineLoss, InBatchNegatives, PairLoss, SentenceLoss

__all__ = [
    "ContrastiveLoss",
    "CosineLoss",
    "CrossEntropy",
    "InBatchNegatives",
    "PairLoss",
    "SentenceLoss",
    "balanced_weights",
]
