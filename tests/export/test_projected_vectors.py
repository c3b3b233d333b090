"""Files of sentence encoders with a projection: Dense without bias in every recipe, and its width in the metadata."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.pruning.structured import reduce_dimensions
from kerasbert.export.conversion import convert
from kerasbert.export.measurement.inspection import inspect
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.model import decode, operator_kinds
from kerasbert.export.validator import validate

pytestmark = pytest.mark.one_layer

# Rounding of sums over int8 values that are found at run time, or that fall between two steps.
TOLERANCES = {
    "float32": 1e-5,
    "float16": 2e-3,
    "weight_only_wi8": 1e-5,
    "dynamic_wi8_afp32": 0.02,
    "static_wi8_ai8": 0.02,
}


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(40, seed=4)[0]


@pytest.fixture(scope="module")
def short(tiny, texts):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return reduce_dimensions(tiny.sentence_encoder(sizes={**sizes, "initializer_range": 0.5}), 6, texts)


@pytest.mark.long_cases("static")
@pytest.mark.parametrize("recipe", TOLERANCES)
def test_a_file_computes_the_vectors_of_its_task(short, texts, recipe, tmp_path):
    model = short if "float" in recipe else kb.compression.quantize(short, recipe, calibration=texts)
    result = convert(model, recipe=recipe)
    assert metadata.read(result.content).processor.width == 6
    path = result.save(tmp_path / "model.tflite")
    found = np.array([each["vector"] for each in open_pipeline(path).predictions(texts)])
    expected = model.serve(model.pack(texts))["embedding"].numpy()
    assert found.shape == (40, 6)
    np.testing.assert_allclose(found, expected, atol=TOLERANCES[recipe])
    assert validate(path, against=model, data=texts, reference_rows=4).verdict != "failed"


@pytest.mark.long
def test_the_kernel_is_int8_and_has_a_scale_for_each_output(short, texts):
    """It is the last Dense layer of the graph."""
    model = kb.compression.quantize(short, "static_wi8_ai8", calibration=texts)
    assert model.projection.kernel_quantizer.enabled and len(model.projection_input.ranges) == 1
    graph = decode(convert(model, recipe="static_wi8_ai8").content)
    kinds, tensors = operator_kinds(graph), graph.subgraphs[0].tensors
    dense = [each for each in graph.subgraphs[0].operators if kinds[each.opcodeIndex] == "FULLY_CONNECTED"]
    kernel = tensors[dense[-1].inputs[1]]
    assert tuple(kernel.shape) == (6, 16) and len(kernel.quantization.scale) == 6
    assert tensors[dense[-1].inputs[0]].type == kernel.type  # int8


@pytest.mark.parametrize("target", ["gpu"])
@pytest.mark.long
def test_other_targets_take_it(short, texts, target):
    result = convert(short, recipe="float32", target=target)
    assert inspect(result.content) is not None and metadata.read(result.content).processor.width == 6


@pytest.mark.long
def test_quantized_folders_keep_the_ranges_of_the_projection(short, texts, tmp_path):
    model = kb.compression.quantize(short, "static_wi8_ai8", calibration=texts)
    model.save_pretrained(tmp_path / "int8")
    loaded = kb.load_task(tmp_path / "int8")
    assert [tuple(map(float, ends)) for ends in loaded.projection_input.ranges] == [
        tuple(map(float, ends)) for ends in model.projection_input.ranges
    ]
    first, second = (each.serve(each.pack(texts))["embedding"].numpy() for each in (model, loaded))
    np.testing.assert_array_equal(first, second)
