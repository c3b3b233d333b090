"""Smaller models by cutting: layers, attention heads, feed-forward neurons and words that are really gone."""

from kerasbert.compression.cutting.heads import cut_heads
from kerasbert.compression.cutting.importance import head_importance, neuron_importance
from kerasbert.compression.cutting.layers import STRATEGIES, drop_layers, layer_similarities
from kerasbert.compression.cutting.vocabulary import trim_vocabulary
from kerasbert.compression.cutting.widths import cut_feed_forward

__all__ = [
    "STRATEGIES",
    "cut_feed_forward",
    "cut_heads",
    "drop_layers",
    "head_importance",
    "layer_similarities",
    "neuron_importance",
    "trim_vocabulary",
]
