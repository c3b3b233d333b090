"""Files of tasks that were made under Keras' mixed precision."""

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers

pytestmark = pytest.mark.one_layer


@pytest.fixture(params=["mixed_float16", "mixed_bfloat16"])
def mixed(request, tiny):
    """A task that computes in 16 bits, and its global policy, which stays set."""
    keras.mixed_precision.set_global_policy(request.param)
    yield tiny.narrow(), request.param
    keras.mixed_precision.set_global_policy("float32")


def probabilities(model, texts, path):
    predictor = open_pipeline(model.save(path))
    features = predictor.processor.features(texts, predictor.tokenizer, predictor.length)
    rows = {row: outputs["probabilities"] for row, outputs, _ in predictor.row_outputs(texts, features)}
    return np.concatenate([rows[row][0] for row in range(len(texts))])


@pytest.mark.long_cases
@pytest.mark.parametrize(
    "options", [{"recipe": "float32"}, {"recipe": "static_wi8_ai8"}, {"integer_only": True}], ids=lambda each: str(each)
)
def test_the_file_computes_as_that_of_the_float32_model(tiny, mixed, options, tmp_path, capfd):
    task, name = mixed
    texts = tiny.rows(8)[0]
    options = options if options.get("recipe") == "float32" else {**options, "calibration": texts}
    converted = kb.export.convert(task, length=8, **options)
    assert keras.mixed_precision.global_policy().name == name and task.compute_dtype == name.removeprefix("mixed_")
    assert "error" not in capfd.readouterr().err
    keras.mixed_precision.set_global_policy("float32")
    same = tiny.narrow(seed=1)
    for path, variable in same.variables_by_path().items():
        variable.assign(task.variables_by_path()[path])
    expected = kb.export.convert(same, length=8, **options)
    assert converted.metadata.weights == expected.metadata.weights
    np.testing.assert_array_equal(
        *(probabilities(each, texts, tmp_path / f"{i}.tflite") for i, each in enumerate((converted, expected)))
    )


def test_ranges_of_a_task_in_16_bits_are_copied(tiny, mixed):
    quantized = kb.compression.quantize(mixed[0], calibration=tiny.rows(8)[0])
    copied = quantized.in_float32()
    assert {layer.compute_dtype for layer in copied._flatten_layers()} == {"float32"}
    assert copied.in_float32() is copied and copied.policy == quantized.policy
    for quantizer, other in zip(*(activation_quantizers(each) for each in (quantized, copied)), strict=True):
        for key, value in quantizer.statistics().items():
            np.testing.assert_array_equal(value, other.statistics()[key])
