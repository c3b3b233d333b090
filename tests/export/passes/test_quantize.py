"""The quantizer finds Dense layers and tables of a float file by their contents."""

from dataclasses import replace

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression import POLICIES, QuantizationPolicy
from kerasbert.errors import KerasBertError
from kerasbert.export.lowering.dense_plans import dense_plans
from kerasbert.export.lowering.targets import target_named
from kerasbert.export.lowering.tracing import export_twin, float_model
from kerasbert.export.passes import quantize as module
from kerasbert.export.passes.context import PassContext
from kerasbert.export.passes.quantize import digest, quantize, scope
from kerasbert.export.passes.recipes import RECIPES
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import decode, encode
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.layers.blocks.transformer_block import SelfAttention
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.traversal import dense_layers, sublayers

STATIC = RECIPES["static_wi8_ai8"]


@pytest.fixture(scope="module")
def parts(tiny):
    """A quantized model, its float copy, the float file, plans and tables."""
    model = kb.compression.quantize(tiny.narrow(seed=5), "static_wi8_ai8", calibration=tiny.rows(16)[0])
    twin = export_twin(model)
    content = float_model(twin, target_named("cpu"), 8)
    tables = [layer.table.numpy() for layer in sublayers(twin, EmbeddingTable)]
    return model, twin, content, dense_plans(model, twin, static=True), tables


def test_the_float_copy_has_the_stored_weights(parts, tiny):
    model, twin, *_ = parts
    for mine, theirs in zip(sublayers(twin, EmbeddingTable), sublayers(model, EmbeddingTable), strict=True):
        np.testing.assert_array_equal(mine.table, theirs.served_table())
        assert (np.abs(mine.table - theirs.table).max() > 0) == theirs.quantized
    ours, (attention,) = sublayers(model, SelfAttention)[0], sublayers(twin, SelfAttention)
    np.testing.assert_allclose(attention.query.kernel, ours.query.kernel * ours.head_size**-0.5)
    np.testing.assert_array_equal(attention.key.kernel, ours.key.kernel)


def test_plans_have_the_trained_ranges(parts):
    model, _, _, plans, _ = parts
    assert [plan.path for plan in plans] == [dense.path for dense in dense_layers(model)]
    by_path = {plan.path: plan for plan in plans}
    attention = model.encoder.layers[0].attention
    key, query = by_path[attention.key.path], by_path[attention.query.path]
    assert (
        key.input_range
        == query.input_range
        == (float(attention.input_quantizer.minimum), float(attention.input_quantizer.maximum))
    )
    assert key.output_range == (
        float(attention.key.output_quantizer.minimum),
        float(attention.key.output_quantizer.maximum),
    )
    np.testing.assert_allclose(
        query.output_range,
        np.array([attention.query.output_quantizer.minimum, attention.query.output_quantizer.maximum])
        * attention.scale,
        rtol=1e-6,
    )
    for path in ("layers.0.feed_forward.output_dense", "classifier"):
        assert by_path[path].input_range is by_path[path].output_range is None
    assert all(plan.input_range is None for plan in dense_plans(model, parts[1], static=False))


def test_an_unserved_dense_layer_has_no_plan(vectors):
    from kerasbert.export.lowering.tracing import export_twin

    paths = [plan.path for plan in dense_plans(vectors, export_twin(vectors), static=False)]
    assert "pooler" not in paths and len(paths) == 2 * 6


def test_a_static_range_on_one_side_only_is_refused(tiny):
    rules = (("*.query.output", "static"), ("*", "float"))
    model = tiny.narrow().with_policy(QuantizationPolicy("static_wi8_ai8", activations=rules))
    with pytest.raises(KerasBertError, match=r"layers\.0\.attention\.query: .*one side"):
        dense_plans(model, export_twin(model), static=True)


def test_a_dense_layer_without_a_plan_is_refused(parts):
    _, _, content, plans, tables = parts
    with pytest.raises(KerasBertError, match="another with a kernel of shape"):
        quantize(decode(content), PassContext(STATIC, plans[1:], tables))


def test_a_plan_without_a_dense_layer_is_refused(parts):
    _, _, content, plans, tables = parts
    other = replace(plans[0], path="layers.9.query", kernel=digest(np.ones((3, 2))))
    with pytest.raises(KerasBertError, match=r"without 1 of them: layers\.9\.query"):
        quantize(decode(content), PassContext(STATIC, [*plans, other], tables))


def test_other_tables_stay_float(parts):
    from kerasbert.export.tflite.model_file import ModelFile

    _, _, content, plans, tables = parts
    for given, expected in ((tables, {"int8"}), (tables[:1], {"int8", "float32"}), ([tables[0] + 1], {"float32"})):
        model = decode(content)
        quantize(model, PassContext(STATIC, plans, given))
        file = ModelFile.read(encode(model))
        graph = file.subgraphs[0]
        gathers = [operator for operator in graph.operators if operator.name == "GATHER"]
        assert {graph.tensors[operator.inputs[0]].dtype for operator in gathers} == expected


def test_the_editor_finds_operators_and_constants(parts):
    model, _, content, plans, tables = parts
    graph = GraphEditor(decode(content))
    operators = graph.operators("FULLY_CONNECTED")
    assert len(operators) == len(plans) == len(dense_layers(model))
    kernels = [graph.constant(operator.inputs[1]) for operator in operators]
    assert all(digest(kernel) in {plan.kernel for plan in plans} for kernel in kernels)
    assert graph.constant(operators[0].inputs[0]).size == 0
    gathered = [graph.constant(operator.inputs[0]) for operator in graph.operators("GATHER")]
    assert all(any(np.array_equal(table, known) for known in tables) for table in gathered)


def test_a_scope_matches_one_operator(parts):
    import re

    graph = GraphEditor(decode(parts[2]))
    operators = graph.operators("FULLY_CONNECTED")
    names = ["".join(f"{graph.name(tensor)};" for tensor in operator.outputs) for operator in operators]
    for operator in operators:
        assert sum(bool(re.search(scope(graph, operator), name)) for name in names) == 1


def test_every_integer_recipe_has_a_policy():
    assert set(POLICIES) == {name for name, recipe in RECIPES.items() if recipe.integer}


@pytest.mark.long
def test_gpu_tables_are_quantized_with_rank_2(static_model, monkeypatch):
    """Other ranks fail above 32 MiB, a size that no tiny model has. The file has rank 3 again."""
    given = []
    monkeypatch.setattr(module, "encode", lambda model: given.append(encode(model)) or given[-1])
    made = kb.export.convert(static_model, target="gpu").content
    ranks = []
    for file in (*given, made):
        graph = ModelFile.read(file).subgraphs[0]
        ranks.append([len(graph.tensors[op.inputs[0]].shape) for op in graph.operators if op.name == "GATHER"])
    assert set(ranks[0]) == {2} and set(ranks[1]) == {3}
