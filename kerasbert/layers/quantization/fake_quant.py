"""Fake quantization: floats rounded to the grids of 8 and 4 bits, with straight-through gradients (Jacob et al. 2018, section 3)."""

from typing import Any

import numpy as np
import tensorflow as tf

_SHARES = tuple(np.linspace(1.0, 0.64, 10).tolist())  # of a row's largest magnitude


def kernel_scale(kernel: tf.Tensor, bits: int) -> tf.Tensor:
    """Return the scale of each output channel of a float32 kernel (in, out): (out,)."""
    levels = 2.0 ** (bits - 1) - 1
    return tf.maximum(tf.reduce_max(tf.abs(kernel), axis=0) / levels, 1e-9)  # a pruned channel has no range


def kernel_fake_quant(kernel: tf.Tensor, bits: int) -> tf.Tensor:
    """Quantize a float32 kernel (in, out) symmetrically, to -127..127 with 8 bits, with one scale per output channel.

    The grid is that of tfmot's `LastValueQuantizer(bits, per_axis=True, symmetric=True, narrow_range=True)`. That operator adds 127 scales
    before it rounds, so ties may round to the other side. It also reads a kernel column by column, which is much slower. All gradients
    pass here; there the largest value of a channel may have none, where rounding puts it out of its own range.
    """

    def rounded(kernel: tf.Tensor) -> tf.Tensor:
        scale = kernel_scale(kernel, bits)
        return tf.round(kernel / scale) * scale

    return tf.grad_pass_through(rounded)(kernel)


def block_fake_quant(kernel: tf.Tensor, bits: int, block: int) -> tf.Tensor:
    """Quantize a float32 kernel (in, out) symmetrically, with one scale for each output channel and block of inputs.

    Files store these scales in 16-bit floats of 8 significant bits. Gradients pass straight through.

    Args:
        kernel: The kernel; blocks divide its inputs.
        bits: Of the values.
        block: Number of inputs that share a scale.
    """

    def rounded(kernel: tf.Tensor) -> tf.Tensor:
        blocks = tf.reshape(kernel, (-1, block, kernel.shape[1]))  # (in / block, block, out)
        levels = 2.0 ** (bits - 1) - 1
        scale = tf.maximum(tf.reduce_max(tf.abs(blocks), axis=1, keepdims=True), 1e-9) / levels
        scale = tf.cast(tf.cast(tf.cast(scale, tf.bfloat16), tf.float16), tf.float32)
        scale = tf.maximum(scale, 1e-30)  # too small for 16 bits
        values = tf.clip_by_value(tf.round(blocks / scale), -levels, levels) * scale
        return tf.reshape(values, tf.shape(kernel))

    return tf.grad_pass_through(rounded)(kernel)


def table_fake_quant(rows: tf.Tensor, bound: float | tf.Tensor) -> tf.Tensor:
    """Quantize embedding rows symmetrically, to -127..127, with the one scale of their table.

    tfmot's quantizers need the whole table as input, which makes its gradient dense. The rows alone keep it sparse.

    Args:
        rows: (..., width).
        bound: the largest magnitude of the table.
    """
    data = tf.cast(rows, tf.float32)
    if isinstance(bound, float):
        return tf.quantization.fake_quant_with_min_max_args(data, -bound, bound, 8, narrow_range=True)
    bound = tf.stop_gradient(tf.cast(bound, tf.float32))
    return tf.cast(tf.quantization.fake_quant_with_min_max_vars(data, -bound, bound, 8, narrow_range=True), rows.dtype)


def row_fake_quant(rows: tf.Tensor, bits: int) -> tf.Tensor:
    """Quantize embedding rows symmetrically, to -7..7 with 4 bits, with one scale for each row.

    A row's scale is the one of 10 with the least squared error, from its largest magnitude down to 0.64 of it. So its largest values are
    clipped to the end of the grid, and the values alone tell the scale: a rounded row stays as it is. Gradients pass straight through.

    Args:
        rows: (..., width).
        bits: Of the values.
    """

    def rounded(rows: tf.Tensor) -> tf.Tensor:
        data, levels = tf.cast(rows, tf.float32), 2.0 ** (bits - 1) - 1
        largest = tf.maximum(tf.reduce_max(tf.abs(data), axis=-1, keepdims=True), 1e-9)
        best, least = data, tf.fill(tf.shape(largest), np.inf)
        for share in _SHARES:
            scale = largest * share / levels
            values = tf.clip_by_value(tf.round(data / scale), -levels, levels) * scale
            error = tf.reduce_sum(tf.square(values - data), axis=-1, keepdims=True)
            best, least = tf.where(error < least, values, best), tf.minimum(error, least)
        return tf.cast(best, rows.dtype)

    return tf.grad_pass_through(rounded)(rows)


def per_token_fake_quant(x: tf.Tensor) -> tf.Tensor:
    """Quantize as a dynamically quantized Dense layer does its input: int8 with one asymmetric range per token.

    Gradients pass straight through: the range covers every value.
    """
    data = tf.cast(x, tf.float32)
    low = tf.minimum(tf.reduce_min(data, axis=-1, keepdims=True), 0.0)
    high = tf.maximum(tf.reduce_max(data, axis=-1, keepdims=True), 0.0)
    scale = tf.maximum((high - low) / 255.0, 1e-30)
    zero = tf.round(low / scale)
    grid = (tf.clip_by_value(tf.round(data / scale), zero, zero + 255.0)) * scale
    return tf.cast(data + tf.stop_gradient(grid - data), x.dtype)


def learned_fake_quant(x: tf.Tensor, low: tf.Variable, high: tf.Variable) -> tf.Tensor:
    """Quantize float32 x to 8 bits of a trained range (Esser et al. 2020, learned step sizes; Bhalgat et al. 2020, LSQ+).

    Both ends have gradients of clipping and of rounding. TensorFlow's own operator has that of clipping alone, with which a range only
    grows. The gradients are divided by the root of the number of values; else they would dominate the norm by which all gradients are
    clipped.
    """

    @tf.custom_gradient
    def quantized(x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> Any:
        grid = tf.quantization.fake_quant_with_min_max_vars(x, low, high)

        def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            inside, below, above = tf.quantization.fake_quant_with_min_max_vars_gradient(upstream, x, low, high)
            # A value of q scales is q (high - low) / 255: as the scale grows by 1, it moves by q less its own size in scales.
            rounded = tf.reduce_sum(inside * (grid - x)) / tf.maximum(high - low, 1e-9)
            share = tf.math.rsqrt(tf.cast(tf.maximum(tf.size(x), 1), tf.float32))
            return inside, (below - rounded) * share, (above + rounded) * share

        return grid, gradient

    return quantized(x, tf.convert_to_tensor(low), tf.convert_to_tensor(high))


def without_learning(x: tf.Tensor, low: tf.Variable, high: tf.Variable) -> tf.Tensor:
    """Return x, with gradients of 0 for the ends of a range that is trained at other times: Keras warns of variables without any."""

    @tf.custom_gradient
    def same(x: tf.Tensor, low: tf.Tensor, high: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            return upstream, tf.zeros_like(low), tf.zeros_like(high)

        return tf.identity(x), gradient

    return same(x, tf.convert_to_tensor(low), tf.convert_to_tensor(high))
