import numpy as np
import pytest
import tensorflow as tf

from kerasbert.compression.quantization.calibration import MinMaxObserver
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.embedding_table import make_embedding_table
from kerasbert.layers.quantization.fake_quant import kernel_fake_quant, per_token_fake_quant, table_fake_quant
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.quantization.weight_quantizers import KernelFakeQuant

STATIC = QuantizationPolicy("static_wi8_ai8", activations=(("*", "static"),))


def static_point(minimum, maximum, **options):
    point = activation_quantizer(STATIC, "point", **options)
    point.minimum.assign(minimum)
    point.maximum.assign(maximum)
    return point


def test_the_first_matching_rule_decides():
    rules = (("layers.0.*.output", "float"), ("layers.0.*", "dynamic"), ("layers.?.ffn", "static"))
    policy = QuantizationPolicy("mine", activations=rules)
    assert policy.kind("layers.0.query.output") == "float"
    assert policy.kind("layers.0.query") == "dynamic"
    assert policy.kind("layers.0.ffn") == "dynamic"
    assert policy.kind("layers.1.ffn") == "static"
    assert policy.kind("Layers.1.ffn") == "float"  # no rule; case counts
    assert QuantizationPolicy.from_config(policy.get_config()) == policy


def test_policy_survives_json():
    import json

    assert QuantizationPolicy.from_config(json.loads(json.dumps(STATIC.get_config()))) == STATIC


def test_an_unknown_kind_names_itself_and_its_rule():
    with pytest.raises(ValueError, match=r"'query'.*'int4'"):
        QuantizationPolicy("mine", activations=(("query", "int4"),))


def test_without_a_policy_points_are_identities_without_variables():
    x = tf.constant(np.random.default_rng(0).normal(size=(3, 4)), tf.float32)
    for point in (activation_quantizer(None, "a"), KernelFakeQuant(None, "k")):
        np.testing.assert_array_equal(point(x), x)
        assert point.variables == []


def test_a_symmetric_range_keeps_its_zero_in_the_middle():
    point = static_point(-1.0, 6.35, symmetric=True)
    point.symmetrize_ranges()
    assert (float(point.minimum), float(point.maximum)) == pytest.approx((-6.4, 6.35))
    point.minimum.assign(-12.8)
    point.symmetrize_ranges()
    assert (float(point.minimum), float(point.maximum)) == pytest.approx((-12.8, 12.7))
    for _ in range(3):
        point(tf.constant([-50.0, 1.0]), training=True)
    assert float(point.minimum) < -12.85  # it moved
    assert float(point.minimum) * 127 == pytest.approx(float(point.maximum) * -128)


@pytest.mark.parametrize("jit", [False, True])
def test_kernel_grid_is_symmetric_and_per_channel(jit):
    kernel = np.random.default_rng(0).normal(size=(16, 6)).astype(np.float32)
    kernel[:, 1] *= 100
    kernel[:, 2] = 0  # a pruned channel
    point = KernelFakeQuant(STATIC, "kernel")
    quantized = tf.function(point, jit_compile=jit)(tf.constant(kernel)).numpy()
    step = np.maximum(np.abs(kernel).max(0) / 127, 1e-30)
    np.testing.assert_allclose(quantized, np.round(kernel / step) * step, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(quantized[:, 2], 0)
    np.testing.assert_allclose(point.scale(kernel)[:2], step[:2], rtol=1e-6)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("width", [0.02, 3.0, 1e4])
def test_kernel_grid_is_that_of_tfmot(bits, width):
    from tensorflow_model_optimization.quantization.keras.quantizers import LastValueQuantizer

    kernel = tf.constant(np.random.default_rng(bits).normal(0, width, (64, 300)), tf.float32)
    reference = LastValueQuantizer(bits, per_axis=True, symmetric=True, narrow_range=True)
    ends = {name: tf.Variable(tf.zeros(300)) for name in ("min_var", "max_var")}
    ours, theirs = kernel_fake_quant(kernel, bits).numpy(), reference(kernel, True, ends).numpy()
    step = np.abs(kernel).max(0) / (2 ** (bits - 1) - 1)
    steps = np.round(np.abs(ours - theirs) / step)
    assert steps.max() <= 1 and (steps > 0).mean() < 1e-3  # what lies between two values may fall to either
    np.testing.assert_allclose(ours, np.where(steps > 0, ours, theirs), rtol=1e-6, atol=1e-5 * width)


def test_kernel_grid_follows_the_kernel_at_inference_too():
    point = KernelFakeQuant(STATIC, "kernel")
    point(tf.constant([[1.0], [0.3]]))
    np.testing.assert_allclose(point(tf.constant([[4.0], [0.3]])), [[4.0], [round(0.3 / 4 * 127) * 4 / 127]], rtol=1e-5)


def test_dynamic_fake_quant_is_that_of_numpy_row_by_row():
    draw = np.random.default_rng(0)
    x = draw.normal(0.5, 1, (3, 5, 16)).astype(np.float32)
    x[0] *= 50
    x[1] = np.abs(x[1]) + 7  # all above zero: the range still holds zero
    low, high = np.minimum(x.min(-1, keepdims=True), 0), np.maximum(x.max(-1, keepdims=True), 0)
    scale = (high - low) / np.float32(255)
    zero = np.round(low / scale)
    expected = np.clip(np.round(x / scale), zero, zero + 255) * scale
    np.testing.assert_allclose(per_token_fake_quant(x), expected, rtol=1e-5, atol=1e-6)
    assert np.abs(per_token_fake_quant(x) - x).max() <= 0.51 * scale.max() + 1e-6
    np.testing.assert_array_equal(per_token_fake_quant(np.zeros((2, 4), np.float32)), 0)


def test_table_fake_quant_uses_one_grid_for_the_whole_table():
    table = np.random.default_rng(0).normal(size=(20, 8)).astype(np.float32)
    table[7, 3] = -9.0
    step = 9.0 / 127
    expected = np.round(table / step) * step
    np.testing.assert_allclose(table_fake_quant(table[:5], np.abs(table).max()), expected[:5], atol=1e-5)

    layer = make_embedding_table(20, 8, STATIC, "word", "zeros")
    layer.table.assign(table)
    np.testing.assert_allclose(layer(np.array([[7, 0]])), expected[[[7, 0]]], atol=1e-5)
    np.testing.assert_allclose(layer.positions(np.zeros((1, 4)), 2), expected[2:6], atol=1e-5)
    np.testing.assert_allclose(layer.served_table(), expected, atol=1e-5)
    plain = make_embedding_table(20, 8, None, "word", "zeros")
    plain.table.assign(table)
    np.testing.assert_array_equal(plain.served_table(), table)


def test_static_fake_quant_clips_and_rounds_on_its_range():
    point = static_point(-1.0, 3.0)
    step = 4 / 255
    x = np.linspace(-2, 5, 50).astype(np.float32)
    zero = np.round(-1.0 / step) * step
    expected = np.clip(np.round(x / step) * step, zero, zero + 255 * step)
    np.testing.assert_allclose(point(x), expected, atol=1e-5)
    assert float(point.scale) == pytest.approx(step)


def test_range_moves_while_training_and_rests_at_inference():
    point = static_point(-1.0, 1.0)
    x = tf.constant([[-5.0, 9.0]])
    point(x, training=False)
    assert (float(point.minimum), float(point.maximum)) == (-1, 1)
    point(x, training=True)
    assert -1.1 < float(point.minimum) < -1 and 1 < float(point.maximum) < 1.1  # moved by 0.1 % or 1 %, not to the data
    for _ in range(3):
        before = float(point.maximum)
        point(x, training=True)
        assert float(point.maximum) > before


def test_observing_widens_the_range_and_passes_values_through():
    point = static_point(0.0, 0.0)
    assert not point.calibrated
    point.observer = MinMaxObserver()
    for x in ([[0.123, 4.0]], [[-2.0, 0.5]]):
        np.testing.assert_array_equal(point(tf.constant(x)), np.float32(x))
    point.observer = None
    assert (float(point.minimum), float(point.maximum)) == (-2, 4) and point.calibrated


def test_clip_min_limits_the_range():
    point = static_point(0.0, 0.0, clip_min=-4.0)
    point.observer = MinMaxObserver()
    point(tf.constant([[-30.0, 2.0]]))
    assert (float(point.minimum), float(point.maximum)) == (-4, 2)
    point.observer = None
    for _ in range(50):
        point(tf.constant([[-30.0, 2.0]]), training=True)
    assert float(point.minimum) == -4


@pytest.mark.parametrize("kind", ["static", "dynamic", "float"])
def test_gradient_passes_through_an_activation_point(kind):
    point = activation_quantizer(QuantizationPolicy("r", activations=(("*", kind),)), "point")
    if kind == "static":
        point.minimum.assign(-2.0)
        point.maximum.assign(2.0)
    x = tf.Variable([[-1.5, 0.2, 1.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(point(x, training=True) * [[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(tape.gradient(loss, x), [[1, 2, 3]])


def test_gradient_passes_through_kernels_and_tables():
    kernel = tf.Variable(np.random.default_rng(0).normal(size=(5, 3)), dtype=tf.float32)
    with tf.GradientTape(persistent=True) as tape:
        through_kernel = tf.reduce_sum(KernelFakeQuant(STATIC, "kernel")(kernel))
        layer = make_embedding_table(9, 4, STATIC, "word", "glorot_uniform")
        through_table = tf.reduce_sum(layer(tf.constant([[2, 2, 5]])))
    np.testing.assert_allclose(tape.gradient(through_kernel, kernel), np.ones((5, 3)))
    sparse = tape.gradient(through_table, layer.table)
    assert isinstance(sparse, tf.IndexedSlices)  # a dense gradient of a 30,000-word table would be slow
    expected = np.zeros((9, 4))
    expected[2], expected[5] = 2, 1
    np.testing.assert_allclose(tf.convert_to_tensor(sparse), expected)


def integer_dense(units=6, inputs=16):
    """A dense whose points all have ranges, and an input on the grid of the point it reads."""
    draw = np.random.default_rng(2)
    reads = static_point(-3.0, 3.0)
    dense = make_dense(units, reads, STATIC, "dense", initializer="glorot_uniform")
    x = reads(draw.normal(size=(4, inputs)).astype(np.float32))
    dense.output_quantizer.minimum.assign(-4.0)
    dense.output_quantizer.maximum.assign(4.0)
    dense(x)
    dense.bias.assign(draw.normal(size=units))
    return dense, x


def test_inference_of_an_integer_dense_is_that_of_int32_accumulators():
    dense, x = integer_dense()
    a, b = float(dense.input_quantizer.scale), dense.kernel_quantizer.scale(dense.kernel).numpy().astype(np.float64)
    zero = np.round(-3.0 / a)
    q = np.round(x.numpy() / a).astype(np.int64)
    assert (q >= zero).all() and (q <= zero + 255).all()
    total = q @ np.round(dense.kernel.numpy() / b).astype(np.int64) + np.round(dense.bias.numpy() / (a * b)).astype(
        np.int64
    )
    expected = dense.output_quantizer((total * a * b).astype(np.float32))
    np.testing.assert_allclose(dense(x), expected, atol=1e-6)


def test_training_and_inference_of_an_integer_dense_differ_by_rounding_only():
    dense, x = integer_dense()
    trained = dense(x, training=True).numpy()  # first: it also moves the range of the output a little
    difference = np.abs(trained - dense(x).numpy())
    assert difference.max() <= 1.02 * float(dense.output_quantizer.scale)
    assert np.mean(difference < 0.02 * float(dense.output_quantizer.scale)) > 0.8
