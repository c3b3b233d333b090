"""Structured pruning: removes layers, heads, neurons, hidden dimensions, tokens and dimensions of vectors; adds tokens with capitals."""

from kerasbert.compression.pruning.structured.cased_tokens import add_cased_tokens
from kerasbert.compression.pruning.structured.dimensions import reduce_dimensions
from kerasbert.compression.pruning.structured.heads import prune_heads
from kerasbert.compression.pruning.structured.hidden import prune_hidden
from kerasbert.compression.pruning.structured.importance import head_importance, hidden_importance, neuron_importance
from kerasbert.compression.pruning.structured.layer_search import LayerChoice, search_layers
from kerasbert.compression.pruning.structured.layer_sharing import SHARED_WEIGHTS, share_layers
from kerasbert.compression.pruning.structured.layer_strategies import layer_similarities
from kerasbert.compression.pruning.structured.layers import STRATEGIES, drop_layers
from kerasbert.compression.pruning.structured.low_rank import LowRankReport, factorize, low_rank_report, merge_factors
from kerasbert.compression.pruning.structured.matched_vocabulary import match_vocabulary
from kerasbert.compression.pruning.structured.vocabulary import trim_vocabulary
from kerasbert.compression.pruning.structured.widths import prune_feed_forward

__all__ = [
    "SHARED_WEIGHTS",
    "STRATEGIES",
    "LayerChoice",
    "LowRankReport",
    "add_cased_tokens",
    "drop_layers",
    "factorize",
    "head_importance",
    "hidden_importance",
    "layer_similarities",
    "low_rank_report",
    "match_vocabulary",
    "merge_factors",
    "neuron_importance",
    "prune_feed_forward",
    "prune_heads",
    "prune_hidden",
    "reduce_dimensions",
    "search_layers",
    "share_layers",
    "trim_vocabulary",
]
