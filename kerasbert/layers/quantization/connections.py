"""Relations between the quantizers of neighbouring layers, made once, from outside of them."""

import tf_keras as keras

from kerasbert.layers.quantization.calls import numbered_calls, set_num_calls
from kerasbert.layers.quantization.policy import integer_part
from kerasbert.layers.quantization.residual_streams import equalize_residuals
from kerasbert.layers.quantization.tie_ranges import tie_ranges, tie_sequence


def connect_quantizers(encoder: keras.layers.Layer) -> None:
    """Relate the quantizers of an encoder whose layers are made and not built.

    Sets `encoder.sequence_source`: the quantizer that writes the sequence output, and in which of its calls.
    """
    if integer_part(encoder.policy) is not None:
        equalize_residuals(encoder)
    for block, call_index in numbered_calls(encoder.stack()):
        if call_index:
            set_num_calls(block, call_index + 1)
    encoder.sequence_source = tie_ranges(encoder)
    if encoder.pooler is not None:
        tie_sequence(encoder, encoder.pooler_quantizer)
