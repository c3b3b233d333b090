"""Smaller models by cutting: layers, attention heads, feed-forward neurons and words that are really gone."""

from kerasbert.compression.pruning.structured.heads import cut_heads
from kerasbert.compression.pruning.structured.importance import head_importance, neuron_importance
from kerasbert.compression.pruning.structured.layers import STRATEGIES, drop_layers, layer_similarities
from kerasbert.compression.pruning.structured.vocabulary import trim_vocabulary
from kerasbert.compression.pruning.structured.widths import cut_feed_forward

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
