import fnmatch
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.compression import POLICIES, QuantizationPolicy, calibrate, quantize
from kerasbert.errors import KerasBertError
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks.quantization_ranges import collect_ranges


def statistics(model) -> dict[str, np.ndarray]:
    return {name: np.array(value) for name, value in collect_ranges(model).items()}


def same(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def static_points(model):
    return [point for point in activation_quantizers(model) if point.kind == "static"]


@pytest.fixture(scope="module")
def small(tiny):
    """A quantized model of one layer, for what changes it."""
    texts, _ = tiny.rows(24)
    return lambda: quantize(tiny.narrow(), "static_wi8_ai8", calibration=texts)


def test_quantize_copies_weights_and_leaves_the_model_unchanged(trained, static_model, dynamic_model):
    assert trained.policy is None and type(static_model) is type(trained)
    assert dynamic_model.policy == POLICIES["dynamic_wi8_afp32"]
    ours = trained.variables_by_path()
    for path, variable in dynamic_model.variables_by_path().items():
        np.testing.assert_array_equal(variable, ours[path], err_msg=path)
        assert variable is not ours[path]


def rates(model) -> set[float]:
    return {layer.rate for layer in sublayers(model, Dropout)}


def test_quantized_model_trains_without_dropout_by_default(tiny):
    model, policy = tiny.narrow().with_dropout(0.2), "weight_only_wi8"
    assert rates(quantize(model, policy)) == {0.0}
    assert rates(quantize(model, policy, dropout=0.3)) == {0.3}
    assert rates(quantize(model, policy, dropout=None)) == rates(model) == {0.2}


def test_changing_dropout_keeps_weights_and_ranges(small):
    model = small()
    other = model.with_dropout(0.25)
    assert rates(other) == {0.25} and other.config.hidden_dropout_prob == 0.25 and other.policy == model.policy
    assert same(statistics(other), statistics(model))
    ours = model.variables_by_path()
    for path, variable in other.variables_by_path().items():
        np.testing.assert_array_equal(variable, ours[path], err_msg=path)
    with pytest.raises(KerasBertError, match="from 0 to below 1, received 1.0"):
        model.with_dropout(1)


def test_static_policy_leaves_sensitive_activations_dynamic_or_float(static_model):
    of_denses = {
        point.path for dense in dense_layers(static_model) for point in (dense.input_quantizer, dense.output_quantizer)
    }
    kinds = {point.path: point.kind for point in activation_quantizers(static_model)}
    assert {kind for path, kind in kinds.items() if path not in of_denses} == {"float"}
    kinds = {path: kind for path, kind in kinds.items() if path in of_denses}
    assert kinds["layers.1.feed_forward.input"] == kinds["layers.1.feed_forward.hidden"] == "dynamic"
    assert kinds["layers.1.feed_forward.intermediate.output"] == "float"
    assert kinds["layers.1.feed_forward.output_dense.output"] == "float"
    assert kinds["classifier.input"] == "dynamic" and kinds["classifier.output"] == "float"
    rest = [kind for path, kind in kinds.items() if not any(fnmatch.fnmatch(path, p) for p in _NOT_STATIC)]
    assert len(rest) > 10 and set(rest) == {"static"}


_NOT_STATIC = ("*.feed_forward.*", "classifier.*")
# The first feed-forward dense static too: its input equalized, its output cut where GELU is flat.
STATIC_FIRST_DENSE = replace(
    POLICIES["static_wi8_ai8"],
    activations=(
        ("*.feed_forward.input", "static"),
        ("*.feed_forward.intermediate.output", "static"),
        *POLICIES["static_wi8_ai8"].activations,
    ),
)


def test_every_kernel_and_the_word_table_are_held_in_int8(static_model, dynamic_model):
    for model in (static_model, dynamic_model):
        assert all(dense.kernel_quantizer.enabled for dense in dense_layers(model))
        quantized = [table.path for table in sublayers(model, EmbeddingTable) if table.quantized]
        assert quantized == ["embeddings.word"]
    assert not static_points(dynamic_model)


def test_calibrated_ranges_are_the_smallest_and_largest_values(tiny, trained):
    texts, _ = tiny.rows(20, seed=4)
    model = quantize(trained, "static_wi8_ai8", calibration=texts)
    x = model.encoder.embeddings(*(tf.constant(model.pack(texts)[n]) for n in ("input_ids", "token_type_ids")))
    real = model.pack(texts)["attention_mask"].astype(bool)
    first = model.encoder.layers[0].attention.input_quantizer
    # Padding inside a batch is calibrated too: it goes through the same tensors in the file.
    assert float(first.minimum) <= x.numpy()[real].min() + 1e-6 and float(first.minimum) >= x.numpy().min() - 1e-6
    assert float(first.maximum) >= x.numpy()[real].max() - 1e-6 and float(first.maximum) <= x.numpy().max() + 1e-6
    assert all(point.calibrated for point in static_points(model))


def test_range_of_the_gelu_input_stops_at_minus_four(tiny):
    model = tiny.narrow()
    intermediate = model.encoder.layers[0].feed_forward.intermediate
    intermediate.bias.assign(np.linspace(-30, 3, 16))
    texts, _ = tiny.rows(12)
    quantized = quantize(model, STATIC_FIRST_DENSE, calibration=texts)
    writes = quantized.encoder.layers[0].feed_forward.intermediate.output_quantizer
    assert float(writes.minimum) == -4 and float(writes.maximum) > 2
    np.testing.assert_allclose(quantized.predict(texts), model.predict(texts), atol=0.02)
    others = [p for p in static_points(quantized) if p is not writes and "pooler" not in p.path]
    assert all(point.clip_min is None for point in others)


def test_calibrating_again_starts_anew_and_ends_observing(tiny, small):
    model = small()
    wide = statistics(model)
    texts, _ = tiny.rows(24)
    calibrate(model, texts[:2])
    few = statistics(model)
    first = "layers.0.attention.input"
    assert few[f"{first}.maximum"] < wide[f"{first}.maximum"] and few[f"{first}.minimum"] >= wide[f"{first}.minimum"]
    assert not any(point.observer for point in activation_quantizers(model))
    model.predict(texts)  # traced without observing
    assert same(statistics(model), few)
    calibrate(model, texts)
    again = statistics(model)
    for name, value in again.items():
        np.testing.assert_allclose(value, wide[name], atol=1e-5, err_msg=name)


@pytest.mark.long
def test_equalization_scales_outlier_channels_down_and_kernels_up(tiny):
    model = tiny.narrow()
    norm = model.encoder.layers[0].attention_norm
    norm.gamma.assign([1, 1, 1, 40, 1, 1, 1, 1])
    texts, _ = tiny.rows(24)
    policy = replace(POLICIES["static_wi8_ai8"], kernels=False, tables=False, activations=())
    exact, equalized = model.predict(texts), quantize(model, policy)
    calibrate(equalized, texts)
    point = equalized.encoder.layers[0].feed_forward.input_quantizer
    factors = point.equalizer.numpy()
    assert factors[3] < 0.3 and (factors <= 1).all() and (np.delete(factors, 3) > 0.9).all()
    np.testing.assert_allclose(equalized.predict(texts), exact, atol=1e-6)  # in float an identity

    kernel = equalized.encoder.layers[0].feed_forward.intermediate
    np.testing.assert_allclose(kernel.served_kernel(), kernel.kernel / factors[:, None], rtol=1e-6)
    static = quantize(model, STATIC_FIRST_DENSE, calibration=texts)
    plain = quantize(model, replace(static.policy, equalized=()), calibration=texts)
    reads = [each.encoder.layers[0].feed_forward.input_quantizer for each in (static, plain)]
    assert float(reads[0].scale) < 0.5 * float(reads[1].scale)


@pytest.mark.parametrize("calibration", [None, [], np.array([], object)])
def test_a_static_recipe_needs_calibration_texts(trained, calibration):
    with pytest.raises(KerasBertError, match="calibration") as error:
        quantize(trained, "static_wi8_ai8", calibration=calibration)
    assert "\n" not in str(error.value)


def test_calibration_examples_are_sampled_evenly(tiny, capsys):
    texts, model = tiny.rows(9)[0], tiny.narrow()
    sampled = statistics(quantize(model, calibration=texts, calibration_rows=3))
    assert "note: 3 of 9 examples are used for calibration, sampled evenly" in capsys.readouterr().err
    assert same(sampled, statistics(quantize(model, calibration=[texts[0], texts[4], texts[8]])))
    assert not same(sampled, statistics(quantize(model, calibration=texts[:3])))


def test_calibration_on_few_examples_is_said(tiny, capsys):
    texts, model = tiny.rows(100)[0], tiny.narrow()
    quantize(model, calibration=texts[:1])
    assert "note: calibration on 1 example: 512 are recommended" in " ".join(capsys.readouterr().err.split())
    quantize(model, calibration=texts)
    assert capsys.readouterr().err == ""


def test_calibration_on_no_rows_is_refused(tiny):
    model, texts = tiny.narrow(), tf.data.Dataset.from_tensor_slices(tiny.rows(4)[0])
    for data in (texts.take(0), texts.filter(lambda text: False), model.pack(tiny.rows(1)[0], length=16)):
        data = {name: values[:0] for name, values in data.items()} if isinstance(data, dict) else data
        with pytest.raises(KerasBertError, match="tokens, received no rows"):
            quantize(model, calibration=data)
    with pytest.raises(KerasBertError, match="number of rows of at least 1.*received 0"):
        quantize(model, calibration=tiny.rows(4)[0], calibration_rows=0)


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["good film"] * 8, "texts that differ, received 8 rows of the same 4 tokens"),
        (["", ""], "received 2 rows of the same 2 tokens"),
        ([""], "received 1 rows of the same 2 tokens"),
    ],
)
def test_calibration_texts_must_differ(trained, texts, expected):
    with pytest.raises(KerasBertError, match=expected):
        quantize(trained, "static_wi8_ai8", calibration=texts)


def test_calibration_on_padding_is_refused(trained):
    packed = {name: np.zeros((4, 16), np.int32) for name in ("input_ids", "attention_mask", "token_type_ids")}
    with pytest.raises(KerasBertError, match="4 rows of nothing but padding"):
        quantize(trained, "static_wi8_ai8", calibration=packed)


@pytest.mark.long
def test_calibration_takes_a_dataset_and_packed_inputs(tiny, small):
    texts, _ = tiny.rows(24)
    expected = statistics(small())
    model = tiny.narrow()
    strings = tf.data.Dataset.from_tensor_slices(texts)
    for data in (
        model.pack(texts, length=16),
        strings,
        strings.filter(lambda text: True),
    ):  # the last of unknown length
        found = statistics(quantize(model, "static_wi8_ai8", calibration=data))
        assert found.keys() == expected.keys()
        for name in found:  # other batches, so other padding
            np.testing.assert_allclose(found[name], expected[name], atol=0.05, err_msg=name)


def test_quantizers_that_saw_only_zeros_are_named(tiny):
    model = tiny.narrow()
    value = model.encoder.layers[0].attention.value
    value.kernel.assign(tf.zeros_like(value.kernel))
    with pytest.raises(KerasBertError, match=r"layers\.0\.attention\.value\.output") as error:
        quantize(model, "static_wi8_ai8", calibration=tiny.rows(4)[0])
    assert "\n" not in str(error.value)


def test_a_failed_calibration_leaves_the_model_as_it_was(tiny, small):
    model = small()
    before = statistics(model)
    with pytest.raises(KerasBertError):
        calibrate(model, [])
    assert not any(point.observer for point in activation_quantizers(model))
    assert same(statistics(model), before)


def test_unknown_recipe(trained):
    with pytest.raises(KerasBertError, match="'int4'.*|.*static_wi8_ai8.*'int4'"):
        quantize(trained, "int4", calibration=["good film"])


def test_custom_policy_is_accepted(tiny):
    rules = (("layers.0.attention.*", "dynamic"),)
    policy = QuantizationPolicy("dynamic_wi8_afp32", kernels=False, tables=False, activations=rules)
    model = quantize(tiny.narrow(), policy)
    assert model.policy == policy
    assert {p.path.rsplit(".", 1)[0] for p in activation_quantizers(model) if p.kind == "dynamic"} >= {
        "layers.0.attention"
    }
    assert not any(dense.kernel_quantizer.enabled for dense in dense_layers(model))


@pytest.mark.long
def test_quantized_predictions_stay_near_float(tiny, trained, static_model, dynamic_model):
    texts, _ = tiny.rows(60, seed=7)
    exact = trained.predict(texts)
    dynamic = dynamic_model.predict(texts)
    assert 0 < np.abs(dynamic - exact).max() < 0.1
    calibrated = quantize(trained, "static_wi8_ai8", calibration=tiny.rows(64, seed=1)[0]).predict(texts)
    assert 0 < np.abs(calibrated - exact).max() < 0.2
    assert np.mean(static_model.predict(texts).argmax(1) == exact.argmax(1)) > 0.93


def test_training_changes_weights_and_ranges(tiny, small):
    model = small()
    weights = {path: v.numpy().copy() for path, v in model.variables_by_path().items()}
    before = statistics(model)
    model.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    model.fit(*tiny.rows(16, seed=3), batch_size=4, seed=0, verbose=0)
    after = statistics(model)
    moved = [name for name in before if not np.array_equal(before[name], after[name])]
    assert len(moved) > len(before) / 2 and not any(name.endswith("equalizer") for name in moved)
    assert all(np.isfinite(value).all() for value in after.values())
    for path, variable in model.variables_by_path().items():
        moved = np.abs(variable.numpy() - weights[path]).max()
        # softmax is blind to a shift of all its inputs, which is what a key bias gives
        assert moved > 0 or path.endswith("key.bias"), path
    model.evaluate(*tiny.rows(4), verbose=0)
    assert same(statistics(model), after)


@pytest.mark.parametrize("recipe", sorted(POLICIES))
@pytest.mark.long_cases
def test_gradient_reaches_every_variable_through_every_quantizer(tiny, recipe):
    texts, labels = tiny.rows(8)
    float_model = tiny.narrow()
    model = quantize(float_model, recipe, calibration=texts)
    for each in (float_model, model):
        each.dropout.rate = 0.0
        each.encoder.embeddings.dropout.rate = 0.0
        for layer in each.encoder.layers:
            layer.dropout.rate = layer.attention.dropout.rate = 0.0
    inputs = {name: tf.constant(values) for name, values in model.pack(texts).items()}
    gradients = []
    for each in (float_model, model):
        paths = each.variables_by_path()
        with tf.GradientTape() as tape:
            loss = each.default_loss()(each.encode_labels(labels), each(inputs, training=True))
        found = tape.gradient(loss, list(paths.values()))
        gradients.append({p: tf.convert_to_tensor(g).numpy() for p, g in zip(paths, found, strict=True)})
    for path, exact in gradients[0].items():
        got = gradients[1][path]
        if path.endswith("key.bias"):
            continue
        cosine = np.sum(got * exact) / (np.linalg.norm(got) * np.linalg.norm(exact))
        assert cosine > (0.7 if "wi4" in recipe else 0.9), (path, cosine)


@pytest.mark.long
def test_jit_compiled_training_of_a_quantized_model(tiny, small):
    model = small()
    before = statistics(model)
    model.compile(keras.optimizers.SGD(0.1), jit_compile=True)
    history = model.fit(*tiny.rows(8), batch_size=8, verbose=0).history
    assert np.isfinite(history["loss"][0]) and not same(statistics(model), before)
    assert np.isfinite(model.predict(tiny.rows(4)[0])).all()


def test_a_quantized_model_is_quantized_again_from_its_weights(tiny, small):
    model = small()
    again = quantize(model, "dynamic_wi8_afp32")
    assert again.policy.recipe == "dynamic_wi8_afp32" and not static_points(again)
    back = model.with_policy(None)
    np.testing.assert_allclose(back.predict(["good film"]), tiny.narrow().predict(["good film"]), atol=1e-6)
