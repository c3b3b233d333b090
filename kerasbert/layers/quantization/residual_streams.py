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
from kerasbert.layers.quantization.tie_ranges import last_norm
from kerasbert.layers.transformer_block import TransformerBlock


def equalize_residuals(encoder: keras.layers.Layer) -> None:
    """Connect each residual sum of an integer-only encoder with the layers that write and read it; before the encoder is built."""
    _equalize_embeddings(encoder.embeddings)
    calls = list(encoder.stack())
    before: Norm | None = None if isinstance(encoder.embeddings, FactorizedEmbeddings) else encoder.embeddings.norm
    for block in encoder.layers:
        if isinstance(block, TransformerBlock):
            _equalize_block(block, before if calls.count(block) == 1 else None)
        else:
            _connect_no_norms(block)
        before = last_norm(block)


def unscaled_input(block: keras.layers.Layer, x: tf.Tensor) -> tf.Tensor:
    """Undo the equalization of a block's input (B, S, H), which a float model does not have."""
    residual = getattr(block, "attention_sum", None)
    if residual is None or not residual.residual or residual.channel_scales is None:
        return x
    return x / per_channel(residual.channel_scales, x)


def _equalize_embeddings(embeddings: Embeddings) -> None:
    residual, tables = embeddings.sum, [embeddings.word, embeddings.position, embeddings.token_type]
    same_width = embeddings.word.table.shape[1] == embeddings.position.table.shape[1]
    residual.equalized = residual.equalized and same_width and isinstance(embeddings.norm, LayerNorm)
    if residual.equalized:
        residual.mean_offset = lambda: 0.0
        embeddings.norm.read_from(residual)
        for table in filter(None, tables):
            table.write_to(residual)
    elif isinstance(embeddings.norm, IntegerNoNorm):
        embeddings.norm.read_from(residual)


def _connect_no_norms(block: MobileBertBlock) -> None:
    """Tell the norms of a block which quantizers write what they read."""
    pairs = [(block.attention_norm, block.attention_sum), *((each.norm, each.sum) for each in block.feed_forwards)]
    if block.output_dense is not None:
        pairs.append((block.output_norm, block.output_sum))
    for norm, residual in pairs:
        if isinstance(norm, IntegerNoNorm):
            norm.read_from(residual)


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
