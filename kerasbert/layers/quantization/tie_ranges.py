"""Ties the range of each input to the range of the output that it reads: one tensor has one range. Done once, over an encoder."""

from functools import singledispatch

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.bottleneck import Bottleneck, MobileBertBlock
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.factorized_embeddings import FactorizedEmbeddings
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, StaticFakeQuant, share_range
from kerasbert.layers.quantization.calls import numbered_calls
from kerasbert.layers.transformer_block import FeedForward, TransformerBlock

Source = tuple[ActivationFakeQuant | None, int]  # the quantizer that writes a tensor, and the index of its call


def tie_ranges(encoder: keras.layers.Layer) -> Source:
    """Share ranges inside each block and from block to block.

    Returns:
        The source of the sequence output.
    """
    if isinstance(encoder.embeddings, FactorizedEmbeddings):
        _share(encoder.embeddings.projection_quantizer, output_quantizer(encoder.embeddings.norm))
    for block in encoder.layers:
        _tie_inside(block)
    source, source_call = output_quantizer(encoder.embeddings), 0
    for block, call in numbered_calls(encoder.stack()):
        for quantizer in input_quantizers(block):
            _share(quantizer, source, call, source_call)
        source, source_call = output_quantizer(block), call
    return source, source_call


def tie_sequence(encoder: keras.layers.Layer, quantizer: ActivationFakeQuant) -> None:
    """Share the range of the sequence output with a quantizer that reads it, or one of its tokens, unchanged."""
    if encoder.layer_mix is None and encoder.sequence_source is not None:
        source, source_call = encoder.sequence_source
        _share(quantizer, source, 0, source_call)


def tie_pooled(encoder: keras.layers.Layer, quantizer: ActivationFakeQuant) -> None:
    """Share the range of the pooled output with a quantizer that reads it."""
    if encoder.pooler is None:
        tie_sequence(encoder, quantizer)
    else:
        _share(quantizer, encoder.pooled_quantizer)


def _share(
    quantizer: ActivationFakeQuant, source: ActivationFakeQuant | None, call: int = 0, source_call: int = 0
) -> None:
    if isinstance(source, StaticFakeQuant):
        share_range(quantizer, source, call, source_call)


@singledispatch
def output_quantizer(layer: keras.layers.Layer) -> ActivationFakeQuant | None:
    """Return the quantizer of a layer's output, or None where that stays in float."""
    return getattr(layer, "output_quantizer", None)


@output_quantizer.register
def _(embeddings: Embeddings) -> ActivationFakeQuant | None:
    return output_quantizer(embeddings.norm)


@output_quantizer.register
def _(embeddings: FactorizedEmbeddings) -> ActivationFakeQuant | None:
    return output_quantizer(embeddings.projection)


@output_quantizer.register
def _(block: TransformerBlock) -> ActivationFakeQuant | None:
    return output_quantizer(block.feed_forward_norm)


@output_quantizer.register
def _(bottleneck: Bottleneck) -> ActivationFakeQuant | None:
    return output_quantizer(bottleneck.dense if bottleneck.folds else bottleneck.norm)


@output_quantizer.register
def _(block: MobileBertBlock) -> ActivationFakeQuant | None:
    return output_quantizer(last_norm(block))


@singledispatch
def last_norm(block: TransformerBlock) -> Norm:
    """Return the norm that produces a block's output."""
    return block.feed_forward_norm


@last_norm.register
def _(block: MobileBertBlock) -> Norm:
    return block.feed_forwards[-1].norm if block.output_dense is None else block.output_norm


@singledispatch
def input_quantizers(block: TransformerBlock) -> list[ActivationFakeQuant]:
    """Return the quantizers that read a block's input."""
    return [block.attention.input_quantizer]


@input_quantizers.register
def _(block: MobileBertBlock) -> list[ActivationFakeQuant]:
    bottlenecks = [each for each in (block.bottleneck, block.shared_bottleneck) if each is not None]
    inputs = [bottleneck.input_quantizer for bottleneck in bottlenecks]
    inputs += [block.attention.input_quantizer] if block.attended_bottleneck is None else []
    return inputs + ([block.attention.value_quantizer] if block.attention.value_quantizer is not None else [])


@singledispatch
def _tie_inside(block: TransformerBlock) -> None:
    _share(block.feed_forward.input_quantizer, output_quantizer(block.attention_norm))
    _tie_hidden(block.feed_forward)


def _tie_hidden(feed_forward: FeedForward) -> None:
    """Share the range before a ReLU, which starts at 0, with the range after it; training would move them apart."""
    if feed_forward.intermediate.activation is tf.nn.relu:
        _share(feed_forward.hidden, output_quantizer(feed_forward.intermediate))


@_tie_inside.register
def _(block: MobileBertBlock) -> None:
    if block.attended_bottleneck is not None:
        _share(block.attention.input_quantizer, output_quantizer(block.attended_bottleneck))
    norms = [block.attention_norm, *(network.norm for network in block.feed_forwards)]
    inputs = [network.feed_forward.input_quantizer for network in block.feed_forwards]
    inputs += [] if block.output_dense is None else [block.output_input]
    for quantizer, norm in zip(inputs, norms, strict=False):
        _share(quantizer, output_quantizer(norm))
    for network in block.feed_forwards:
        _tie_hidden(network.feed_forward)
