"""What a layer declares about its tensors: which are read unchanged, and which are sums of residuals. `connections` reads it.

The declarations of BERT's layers are here, and those of other architectures beside their layers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.norms import LayerNorm, Norm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant

Tie = tuple[ActivationFakeQuant, Any]  # a quantizer, and the layer whose output it reads


@dataclass(frozen=True)
class Residual:
    """A sum of a residual connection in an integer-only model, whose outlier channels may be scaled down.

    Attributes:
        sum: The quantizer of the sum.
        writers: The layers whose results are added, that of the block's input first. They write in the scales of the sum.
        readers: The quantizers that read the summand which is no result of the block, and so carry the scales.
        norm: The norm that reads the sum and undoes the scales; None where a Dense layer reads it.
        like: The sum with which a tensor between two Dense layers is scaled; None for a sum, which the policy decides.
    """

    sum: ActivationFakeQuant
    writers: Sequence[Any]
    readers: Sequence[ActivationFakeQuant] = ()
    norm: Norm | None = None
    like: ActivationFakeQuant | None = None


class Edges(NamedTuple):
    """The tensors of a layer that others write or read.

    Attributes:
        inputs: The quantizers that read the layer's input.
        output: The layer that writes its output.
        ties: (quantizer, layer) where the first reads what the second writes, unchanged.
        residuals: The sums that are equalized. Those of a layer that are not listed stay as they are.
    """

    inputs: Sequence[ActivationFakeQuant]
    output: keras.layers.Layer
    ties: Sequence[Tie] = ()
    residuals: Sequence[Residual] = ()


def output_quantizer(layer: keras.layers.Layer) -> ActivationFakeQuant | None:
    """Return the quantizer that writes a layer's output; None where that stays in float."""
    return layer if isinstance(layer, ActivationFakeQuant) else getattr(layer, "output_quantizer", None)


class Part(NamedTuple):
    """A part of a block, whose result is added to its input. Together they are a chain: each reads what the one before has written.

    Attributes:
        readers: The quantizers that read the part's input.
        dense: The layer that writes its result.
        sum: The quantizer of input and result.
        norm: The norm that reads the sum.
    """

    readers: Sequence[ActivationFakeQuant]
    dense: keras.layers.Layer
    sum: ActivationFakeQuant
    norm: Norm


def residuals(source: Any, parts: Iterable[Part]) -> list[Residual]:
    """Return the sums of a chain of parts with norms behind them.

    Args:
        source: The layer that writes the input of the first part.
        parts: The parts, in the order of their calls.
    """
    found = []
    for part in parts:
        found.append(Residual(part.sum, (source, part.dense), part.readers, part.norm))
        source = part.norm
    return found


def transformer_edges(block: keras.layers.Layer, before: Norm | None) -> Edges:
    """Declare the tensors that a transformer block shares with others.

    Args:
        block: The block.
        before: The norm that writes the block's input for this block alone, and in its scales; None for another layer.
    """
    attention, fed = block.attention, block.feed_forward
    first = Part((attention.input_quantizer,), attention.output_dense, block.attention_sum, block.attention_norm)
    second = Part((fed.input_quantizer,), fed.output_dense, block.feed_forward_sum, block.feed_forward_norm)
    scaled = residuals(before, (first, second))[0 if before is not None else 1 :]
    return Edges(first.readers, second.norm, ((fed.input_quantizer, first.norm), *fed.ties()), scaled)


def feed_forward_ties(network: keras.layers.Layer) -> Sequence[Tie]:
    """Declare the range before a ReLU, which starts at 0, and the range after it: training would move them apart."""
    return [(network.hidden, network.intermediate)] if network.intermediate.activation is tf.nn.relu else []


def embedding_edges(embeddings: keras.layers.Layer, words: keras.layers.Layer) -> Edges:
    """Declare the tensors of embeddings that the blocks read.

    Args:
        embeddings: The embeddings.
        words: The layer that writes the token embeddings (B, S, W).
    """
    position, total = embeddings.position, embeddings.sum
    factored = embeddings.word_factor is words  # a Dense layer of their width, which carries the scales as well
    same_width = position is not None and (factored or embeddings.word.table.shape[1] == position.table.shape[1])
    scales = total.equalized and same_width or not isinstance(embeddings.norm, LayerNorm)
    writers = [each for each in (position, embeddings.token_type, words) if each is not None]
    return Edges((), embeddings.norm, residuals=(Residual(total, writers, norm=embeddings.norm),) if scales else ())
