"""Values put on the grids of 8 bits while they stay floats, with gradients that pass straight through (Jacob et al. 2018, section 3)."""

import tensorflow as tf


def kernel_step(kernel, bits: int) -> tf.Tensor:
    """The distance of two values on the grid of each output channel of a float32 kernel (in, out): (out,)."""
    most = 2.0 ** (bits - 1) - 1
    return tf.maximum(tf.reduce_max(tf.abs(kernel), axis=0) / most, 1e-9)  # a pruned channel has no range


def kernel_fake_quant(kernel, bits: int):
    """A float32 kernel (in, out) on the symmetric grid of so many bits, -127..127 of 8, with one scale an output channel.

    The grid of tfmot's `LastValueQuantizer(bits, per_axis=True, symmetric=True, narrow_range=True)`. Its operator adds 127 steps before it
    rounds, so what lies between two values may fall to the other one; and it goes down one column after the other, each value in another
    cache line, which is much slower. All gradients pass; there the largest value of a channel may have none, where rounding puts it out of
    its own range.
    """

    def on_grid(kernel):
        step = kernel_step(kernel, bits)
        return tf.round(kernel / step) * step

    return tf.grad_pass_through(on_grid)(kernel)


def table_fake_quant(rows, bound):
    """Embedding rows on the int8 grid of their whole table, whose largest size is `bound`: symmetric, -127..127, one scale a table.

    tfmot's quantizers would need the whole table as their input, which makes its gradient dense; the rows alone keep it sparse.
    """
    data = tf.cast(rows, tf.float32)
    if isinstance(bound, float):
        return tf.quantization.fake_quant_with_min_max_args(data, -bound, bound, 8, narrow_range=True)
    bound = tf.stop_gradient(tf.cast(bound, tf.float32))
    return tf.cast(tf.quantization.fake_quant_with_min_max_vars(data, -bound, bound, 8, narrow_range=True), rows.dtype)


def per_token_fake_quant(x):
    """What a dynamically quantized dense does to its input: int8 with one asymmetric range per row of the last axis.

    Gradients pass straight through (nothing is clipped: the range covers every value).
    """
    data = tf.cast(x, tf.float32)
    low = tf.minimum(tf.reduce_min(data, axis=-1, keepdims=True), 0.0)
    high = tf.maximum(tf.reduce_max(data, axis=-1, keepdims=True), 0.0)
    scale = tf.maximum((high - low) / 255.0, 1e-30)
    zero = tf.round(low / scale)
    grid = (tf.clip_by_value(tf.round(data / scale), zero, zero + 255.0)) * scale
    return tf.cast(data + tf.stop_gradient(grid - data), x.dtype)


def learned_fake_quant(x, low, high):
    """float32 x on the 8-bit grid of a range whose ends are trained: both have gradients of what is clipped and of what is rounded
    (Esser et al. 2020, learned step sizes; Bhalgat et al. 2020, LSQ+, of asymmetric ranges).

    TensorFlow's own operator has the part of what is clipped alone, from which a range only ever grows. The gradients are divided by the
    root of the number of values, else they would be most of the norm by which all gradients are clipped.
    """

    @tf.custom_gradient
    def quantized(x, low, high):
        grid = tf.quantization.fake_quant_with_min_max_vars(x, low, high)

        def gradient(upstream):
            inside, below, above = tf.quantization.fake_quant_with_min_max_vars_gradient(upstream, x, low, high)
            # A value q steps from zero is q (high - low) / 255: as the step grows by 1, it moves by q less its own size in steps.
            rounded = tf.reduce_sum(inside * (grid - x)) / tf.maximum(high - low, 1e-9)
            share = tf.math.rsqrt(tf.cast(tf.maximum(tf.size(x), 1), tf.float32))
            return inside, (below - rounded) * share, (above + rounded) * share

        return grid, gradient

    return quantized(x, tf.convert_to_tensor(low), tf.convert_to_tensor(high))


def without_learning(x, low, high):
    """x. The ends of a range, which are trained at other times, get gradients of 0: Keras warns of a variable that has none."""

    @tf.custom_gradient
    def same(x, low, high):
        return tf.identity(x), lambda upstream: (upstream, tf.zeros_like(low), tf.zeros_like(high))

    return same(x, tf.convert_to_tensor(low), tf.convert_to_tensor(high))
