"""Structured pruning: whole layers, attention heads, feed-forward neurons and vocabulary entries are removed."""

from kerasbert.compression.pruning.structured.heads import prune_heads
from kerasbert.compression.pruning.structured.importance import head_importance, neuron_importance
from kerasbert.compression.pruning.structured.layers import STRATEGIES, drop_layers, layer_similarities
from kerasbert.compression.pruning.structured.vocabulary import trim_vocabulary
from kerasbert.compression.pruning.structured.widths import prune_feed_forward

__all__ = [
    "STRATEGIES",
    "drop_layers",
    "head_importance",
    "layer_similarities",
    "neuron_importance",
    "prune_feed_forward",
    "prune_heads",
    "trim_vocabulary",
]
