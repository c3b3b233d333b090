"""Files of less common recipes compute what was trained, on XNNPACK and on reference kernels."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.export.conversion import convert
from kerasbert.export.measurement.inspection import inspect
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite.model import decode, operator_kinds

RECIPES = ("dynamic_wi4_afp32", "weight_only_wi8", "static_wi8_ai16")


@pytest.fixture(scope="module")
def made(tiny, trained):
    """Model and file by recipe, after a few steps of training under its policy."""
    texts, labels = tiny.rows(64, seed=1)
    found = {}
    for recipe in RECIPES:
        model = kb.compression.quantize(trained, recipe, calibration=texts)
        model.compile(kb.adamw(1e-3), run_eagerly=True)
        model.fit(texts[:32], labels[:32], seed=0, verbose=0)
        found[recipe] = model, convert(model, recipe)
    return found


@pytest.mark.parametrize("kernels", ["xnnpack", "reference"])
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.long_cases
def test_the_file_computes_what_was_trained(tiny, trained, made, recipe, kernels):
    model, result = made[recipe]
    packed = model.pack(tiny.rows(40, seed=5)[0])
    expected = model.serve_numpy(packed)["probabilities"]
    file = open_model(result.content, kernels=kernels)
    rows = range(len(expected))
    found = np.concatenate([file.run({k: v[i : i + 1] for k, v in packed.items()})["probabilities"] for i in rows])
    assert np.abs(found - expected).max() < 0.01
    assert (expected.argmax(1) == trained.serve_numpy(packed)["probabilities"].argmax(1)).mean() > 0.9


@pytest.mark.parametrize(
    ("recipe", "kernel", "activation"),
    [
        ("dynamic_wi4_afp32", "INT4", "FLOAT32"),
        ("weight_only_wi8", "FLOAT32", "FLOAT32"),  # behind a DEQUANTIZE
        ("static_wi8_ai16", "INT8", "INT16"),
    ],
)
def test_dense_layers_have_the_types_of_the_recipe(made, recipe, kernel, activation):
    from ai_edge_litert.schema_py_generated import TensorType

    names = {value: name for name, value in vars(TensorType).items()}
    content = decode(made[recipe][1].content)
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    denses = [op for op in graph.operators if kinds[op.opcodeIndex] == "FULLY_CONNECTED"]
    found = [tuple(names[graph.tensors[i].type] for i in (op.inputs[1], op.inputs[0])) for op in denses]
    of_the_encoder = found[:-1]  # the last is the classifier, dynamic in a static file
    assert len(found) == 14 and set(of_the_encoder) == {(kernel, activation)}


@pytest.mark.long
def test_files_have_the_sizes_of_the_recipe(made, static_model):
    sizes = {recipe: len(result.content) for recipe, (_, result) in made.items()}
    eight = len(convert(static_model).content)
    assert sizes["dynamic_wi4_afp32"] < 0.85 * eight and sizes["weight_only_wi8"] < 1.1 * eight


def test_metadata_and_inspection_name_the_recipe(made, tmp_path):
    for recipe, (_, result) in made.items():
        found = inspect(result.save(tmp_path / f"{recipe}.tflite"))
        assert found.recipe == found.metadata["recipe"] == recipe and found.quantized_parameter_share > 0.8


def test_integer_only_has_one_recipe(trained):
    with pytest.raises(KerasBertError, match="integer-only.*'static_wi8_ai16'"):
        kb.compression.quantize(trained, "static_wi8_ai16", calibration=["good film"], integer_only=True)
