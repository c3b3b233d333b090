"""Relations between the quantizers of neighbouring layers, made once over an encoder from the edges that its layers declare."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.norms import LayerNorm, Norm, per_channel
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, share_range
from kerasbert.layers.quantization.edges import Edges, output_quantizer
from kerasbert.layers.quantization.norms import IntegerNorm
from kerasbert.layers.quantization.policy import integer_part
from kerasbert.layers.traversal import dense_layers, sublayers

# The largest peak of a channel as a multiple of the median one, where no norm scales rows. Tokens with large values are rare and take the
# range from the others; what equal peaks gain there outweighs what kernels lose, whose rows undo it.
NO_NORM_CEILING = 1.0

Source = tuple[ActivationFakeQuant | None, int]  # the quantizer that writes a tensor, and the index of its call


def connect_quantizers(encoder: keras.layers.Layer) -> None:
    """Relate the quantizers of an encoder whose layers are made and not built.

    A range is shared by an output and the inputs that read it. Each call of a shared block has ranges of its own. Residual sums of an
    integer-only model are equalized.

    Sets `encoder.sequence_source`: the quantizer that writes the sequence output, and in which of its calls.
    """
    calls, embedded, edges = list(encoder.stack()), encoder.embeddings.edges(), {}
    before = embedded.output
    for block in encoder.layers:
        alone = isinstance(before, IntegerNorm) and calls.count(block) == 1
        edges[id(block)] = block.edges(before if alone else None)
        before = edges[id(block)].output
    if integer_part(encoder.policy) is not None:
        _equalize(encoder.embeddings, embedded)
        for block in encoder.layers:
            _equalize(block, edges[id(block)])
    for block, call in numbered_calls(calls):
        for quantizer in sublayers(block, ActivationFakeQuant) if call else ():
            quantizer.set_num_calls(call + 1)
    _tie_factors(encoder)
    encoder.sequence_source = _tie(embedded, edges, calls)
    if encoder.final_norm is not None:
        encoder.sequence_source = output_quantizer(encoder.final_norm), 0
    if encoder.pooler is not None:
        tie_sequence(encoder, encoder.pooler_quantizer)


def _tie(embedded: Edges, edges: dict[int, Edges], calls: Iterable[keras.layers.Layer]) -> Source:
    """Share ranges inside each layer and from layer to layer; returns the source of the last output."""
    for declared in (embedded, *edges.values()):
        for quantizer, layer in declared.ties:
            share_range(quantizer, output_quantizer(layer))
    source, source_call = output_quantizer(embedded.output), 0
    for block, call in numbered_calls(calls):
        for quantizer in edges[id(block)].inputs:
            share_range(quantizer, source, call, source_call)
        source, source_call = output_quantizer(edges[id(block)].output), call
    return source, source_call


def _tie_factors(encoder: keras.layers.Layer) -> None:
    """Share the range of what a first factor writes with the second one, in each call."""
    for dense in dense_layers(encoder):
        if dense.factor is not None:
            for call in range(dense.input_quantizer.num_calls):
                share_range(dense.input_quantizer, output_quantizer(dense.factor), call, call)


def tie_sequence(encoder: keras.layers.Layer, quantizer: ActivationFakeQuant) -> None:
    """Share the range of the sequence output with a quantizer that reads it, or one of its tokens, unchanged."""
    if encoder.layer_mix is None:
        source, source_call = encoder.sequence_source
        share_range(quantizer, source, 0, source_call)


def tie_pooled(encoder: keras.layers.Layer, quantizer: ActivationFakeQuant) -> None:
    """Share the range of the pooled output with a quantizer that reads it."""
    if encoder.pooler is None:
        tie_sequence(encoder, quantizer)
    else:
        share_range(quantizer, encoder.pooled_quantizer)


# -- residual sums ------------------------------------------------------------------------------------------------------------------------
# In 8 bits a few outlier channels would take the whole range of a residual sum. The layers that write to it scale those channels down, and
# the layers that read it undo that (SmoothQuant, Xiao et al. 2022). All leave out the mean of each vector, which a LayerNorm subtracts.


def _equalize(layer: keras.layers.Layer, declared: Edges) -> None:
    """Connect the residual sums of a layer with the layers that write and read them."""
    listed = {id(residual.sum) for residual in declared.residuals}
    for quantizer in sublayers(layer, ActivationFakeQuant):
        if quantizer.residual and id(quantizer) not in listed:
            quantizer.equalized = False
    for residual in declared.residuals:
        total, centers = residual.sum, isinstance(residual.norm, LayerNorm)
        if residual.like is not None:
            total.equalized = total.residual = residual.like.equalized
        if centers:
            total.mean_offset = _constant_mean(residual.writers[0])
        else:
            total.peak_ceiling = NO_NORM_CEILING
        for reader in residual.readers:
            reader.carry_scales(total)
        for writer in residual.writers:
            writer.write_to(total)
        if residual.norm is not None:
            residual.norm.read_from(total)


def _constant_mean(writer: keras.layers.Layer) -> Callable:
    """Return a function that returns the mean of every vector that a norm writes; 0 for a table, whose rows are centered."""
    return (lambda: tf.reduce_mean(writer.beta)) if isinstance(writer, Norm) else (lambda: 0.0)


def unscaled(x: tf.Tensor, residual: ActivationFakeQuant) -> tf.Tensor:
    """Undo the equalization of a summand (B, S, H) of a residual, which a float model does not have."""
    if not residual.residual or residual.channel_scales is None:
        return x
    return x / per_channel(residual.channel_scales, x)


# -- shared blocks: the same weights in several calls, an activation range for each call --------------------------------------------------


def numbered_calls(blocks: Iterable[keras.layers.Layer]) -> Iterator[tuple[keras.layers.Layer, int]]:
    """Yield blocks in the order of their calls, each with the index of its own call."""
    calls: Counter[int] = Counter()
    for block in blocks:
        yield block, calls[id(block)]
        calls[id(block)] += 1


def each_call(encoder: keras.layers.Layer) -> Iterator[keras.layers.Layer]:
    """Yield an encoder's blocks in the order of their calls, each with its quantizers set to that call."""
    for block, call in numbered_calls(encoder.stack()):
        if encoder.policy is not None:
            for quantizer in sublayers(block, ActivationFakeQuant):
                quantizer.call_index = call
        yield block
