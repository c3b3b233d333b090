"""ALBERT's blocks: one set of weights, a range for each call."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.quantization.policies import policy_named
from kerasbert.encoders import AlbertConfig, AlbertEncoder
from kerasbert.encoders.layer_groups import layer_group
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.quantization.weight_quantizers import KernelFakeQuant
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks import TextClassifier


@pytest.fixture(scope="module")
def albert(tiny):
    """Four layers in two groups of one block, calibrated."""
    import tf_keras as keras

    keras.utils.set_random_seed(0)
    config = AlbertConfig(
        **{**tiny.sizes, "num_hidden_layers": 4, "initializer_range": 0.2},
        embedding_size=16,
        num_hidden_groups=2,
    )
    model = TextClassifier(AlbertEncoder(config), tiny.tokenizer(), labels=tiny.labels, sequence_length=tiny.length)
    return kb.compression.quantize(model, "static_wi8_ai8", calibration=tiny.rows(32)[0])


def shared_points(model):
    return [point for point in activation_quantizers(model.encoder.layers[0]) if point.ranges]


def test_layers_are_divided_among_groups_and_blocks():
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8, "embedding_size": 4, "vocab_size": 9}
    config = AlbertConfig(**sizes, num_hidden_layers=5, num_hidden_groups=2, inner_group_num=3)
    encoder = AlbertEncoder(config)
    assert [layer_group(config, layer) for layer in range(5)] == [0, 0, 0, 1, 1]
    assert [encoder.layers.index(block) for block in encoder.stack()] == [0, 1, 2] * 3 + [3, 4, 5] * 2


def test_each_call_has_its_own_range_and_kernels_have_one_grid(albert):
    points = shared_points(albert)
    assert points and all(point.num_calls == len(point.ranges) == 2 for point in points)
    different = [point for point in points if float(point.ranges[0][1]) != float(point.ranges[1][1])]
    assert len(different) == len(points)
    kernels = [point for point in sublayers(albert, KernelFakeQuant) if point.path.startswith("layers.")]
    assert len(kernels) == 2 * 6 and len({point.path for point in kernels}) == len(kernels)


@pytest.mark.long
def test_a_call_uses_its_own_range(albert, tiny):
    point = next(point for point in shared_points(albert) if point.path == "layers.0.attention.query.output")
    texts = tiny.rows(4, seed=3)[0]
    before, (_, maximum) = albert.predict(texts), point.ranges[1]
    kept = maximum.numpy()
    try:
        maximum.assign(kept / 8)  # of the second call alone
        assert np.abs(albert.predict(texts) - before).max() > 1e-4
    finally:
        maximum.assign(kept)
    np.testing.assert_array_equal(albert.predict(texts), before)


@pytest.mark.long
def test_training_moves_the_ranges_of_all_calls(albert, tiny):
    model = albert.with_policy(albert.policy)
    kb.compression.calibrate(model, tiny.rows(32)[0])
    before = [[float(bound) for bounds in point.ranges for bound in bounds] for point in shared_points(model)]
    model.compile("sgd")
    model.fit(*tiny.rows(32, seed=5), epochs=1, verbose=0)
    after = [[float(bound) for bounds in point.ranges for bound in bounds] for point in shared_points(model)]
    assert all(a != b for was, now in zip(before, after, strict=True) for a, b in zip(was, now, strict=True))


@pytest.mark.long
def test_ranges_survive_a_folder_and_a_keras_file(albert, tiny, tmp_path):
    import tf_keras as keras

    texts = tiny.rows(4, seed=3)[0]
    expected = albert.predict(texts)
    albert.save_pretrained(tmp_path / "folder")
    albert.save(tmp_path / "model.keras")
    for again in (kb.load_task(tmp_path / "folder"), keras.models.load_model(tmp_path / "model.keras")):
        np.testing.assert_array_equal(again.predict(texts), expected)
    from safetensors.numpy import load_file

    saved = load_file(tmp_path / "folder" / "quantization.safetensors")
    assert "layers.1.attention.input.calls.1.maximum" in saved and "pooler.input.maximum" in saved


def test_a_shared_dense_is_planned_once_a_call(albert):
    from kerasbert.export.lowering.dense_plans import dense_plans
    from kerasbert.export.lowering.tracing import export_twin

    plans = [p for p in dense_plans(albert, export_twin(albert), static=True) if p.path == "layers.0.attention.key"]
    key = next(dense for dense in dense_layers(albert) if dense.path == "layers.0.attention.key")
    assert [plan.output_range for plan in plans] == [
        tuple(map(float, bounds)) for bounds in key.output_quantizer.ranges
    ]
    assert len(plans) == 2


def test_one_tensor_has_one_range_where_embeddings_are_projected(tiny):
    policy = policy_named("static_wi8_ai8", integer_only=True)
    encoder = AlbertEncoder(AlbertConfig(**tiny.sizes, embedding_size=16), policy)
    read, written = encoder.embeddings.projection_quantizer, encoder.embeddings.norm.output_quantizer
    assert read.ranges[0][0] is written.ranges[0][0] and read.ranges[0][1] is written.ranges[0][1]
