"""Residual streams of integer-only models: equalized channels and centered vectors. Done once, over an encoder.

In 8 bits a few outlier channels would take the whole range of a residual sum. The layers that write to it scale those channels down, and
the layers that read it undo that (SmoothQuant, Xiao et al. 2022). All leave out the mean of each vector, which the norm subtracts.
"""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.bottleneck import MobileBertBlock
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.factorized_embeddings import FactorizedEmbeddings
from kerasbert.layers.norms import LayerNorm, Norm, per_channel
from kerasbert.layers.quantization.norms import IntegerNoNorm, IntegerNorm
from kerasbert.layers.quantization.tie_ranges import input_quantizers, last_norm
from kerasbert.layers.transformer_block import TransformerBlock

# The largest peak of a channel as a multiple of the median one, where no norm scales rows. Tokens with large values are rare and take the
# range from the others; what equal peaks gain there outweighs what kernels lose, whose rows undo it.
NO_NORM_CEILING = 1.0


def equalize_residuals(encoder: keras.layers.Layer) -> None:
    """Connect each residual sum of an integer-only encoder with the layers that write and read it; before the encoder is built."""
    _equalize_embeddings(encoder.embeddings)
    calls = list(encoder.stack())
    before: Norm | None = None if isinstance(encoder.embeddings, FactorizedEmbeddings) else encoder.embeddings.norm
    for block in encoder.layers:
        if isinstance(block, TransformerBlock):
            _equalize_block(block, before if calls.count(block) == 1 else None)
        else:
            _equalize_bottleneck_block(block, before)
        before = last_norm(block)


def unscaled_input(block: keras.layers.Layer, x: tf.Tensor) -> tf.Tensor:
    """Undo the equalization of a block's input (B, S, H), which a float model does not have."""
    residual = getattr(block, "output_sum", getattr(block, "attention_sum", None))
    if residual is None or not residual.residual or residual.channel_scales is None:
        return x
    return x / per_channel(residual.channel_scales, x)


def _equalize_embeddings(embeddings: Embeddings) -> None:
    residual, norm = embeddings.sum, embeddings.norm
    transformation = getattr(embeddings, "transformation", None)
    tables = [embeddings.position, embeddings.token_type] + ([embeddings.word] if transformation is None else [])
    widths = {table.table.shape[1] for table in (embeddings.word, embeddings.position)}
    centered = isinstance(norm, LayerNorm)
    residual.equalized = residual.equalized and (len(widths) == 1 if centered else isinstance(norm, IntegerNoNorm))
    if residual.equalized:
        if centered:
            residual.mean_offset = lambda: 0.0
        for writer in filter(None, [*tables, transformation]):
            writer.write_to(residual)
    if residual.equalized or not centered:
        norm.read_from(residual)
    if not centered:
        residual.peak_ceiling = NO_NORM_CEILING


def _equalize_bottleneck_block(block: MobileBertBlock, before: Norm) -> None:
    """Equalize the sums of a block: around it, from the block before, and between its bottlenecks, from norm to norm.

    A NoNorm takes no mean off, so nothing is centered. Under a LayerNorm the sums stay as they are.
    """
    inner = [block.attention_sum, *(each.sum for each in block.feed_forwards)]
    norms = [block.attention_norm, *(each.norm for each in block.feed_forwards)]
    outer = inner[0] if block.output_dense is None else block.output_sum
    if not isinstance(block.attention_norm, IntegerNoNorm):
        for residual in (*inner, outer):
            residual.equalized = False
        return
    for residual, norm in zip(inner, norms, strict=True):
        norm.read_from(residual)
    for residual, norm in zip(inner[1:], norms, strict=False):
        norm.write_to(residual)
    block.attention.output_dense.write_to(inner[0])
    for network in block.feed_forwards:
        network.feed_forward.input_quantizer.carry_scales(network.sum)
        network.feed_forward.output_dense.write_to(network.sum)
    before.write_to(outer)
    for quantizer in input_quantizers(block):
        quantizer.carry_scales(outer)
    if block.bottleneck is not None and block.output_dense is not None:
        block.bottleneck.dense.write_to(inner[0])
        if block.attends_in_bottleneck:
            block.attention.input_quantizer.carry_scales(inner[0])
        block.output_dense.write_to(outer)
        block.output_norm.read_from(outer)
        equalized_inputs = [block.output_input]
        norms[-1].write_to(block.output_input)
    else:
        equalized_inputs = []
    block.attention.value.write_to(block.attention.context)
    for quantizer in (block.attention.context, *equalized_inputs):
        quantizer.equalized = quantizer.residual = outer.equalized
    for quantizer in {id(each): each for each in (*inner, outer, block.attention.context, *equalized_inputs)}.values():
        quantizer.peak_ceiling = NO_NORM_CEILING


def _equalize_block(block: TransformerBlock, norm: Norm | None) -> None:
    """Equalize the two residual sums of a block.

    The first one is scaled where a norm writes the input for this block alone.
    """
    first, second = block.attention_sum, block.feed_forward_sum
    block.attention.input_quantizer.carry_scales(first)
    block.attention.output_dense.write_to(first)
    block.attention_norm.write_to(second)
    block.feed_forward.input_quantizer.carry_scales(second)
    block.feed_forward.output_dense.write_to(second)
    block.feed_forward_norm.read_from(second)
    second.mean_offset = lambda: tf.reduce_mean(block.attention_norm.beta)
    if not isinstance(norm, IntegerNorm):
        first.equalized = False
        return
    first.mean_offset = lambda: tf.reduce_mean(norm.beta)
    norm.write_to(first)
    block.attention_norm.read_from(first)
