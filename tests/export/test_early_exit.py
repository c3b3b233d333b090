"""Files with a signature for each exit: outputs of each stage, weights stored once, thresholds, and files that lost a signature."""

from dataclasses import replace

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.metadata import append
from kerasbert.export.tflite.model import decode, encode


@pytest.fixture(scope="module")
def deep(tiny):
    """A classifier with an exit in the middle, which about half of the rows take."""
    model = tiny.classifier(sizes={"num_hidden_layers": 2}, exits=[1])
    for path, variable in model.variables_by_path().items():
        if "classifier.kernel" in path:
            variable.assign(variable * 20)
    confidences = model.serve_exits(model.pack(tiny.rows(32, seed=2)[0]))[0]["confidence"]
    model.exit_threshold = float(np.median(confidences))
    return model


@pytest.fixture(scope="module")
def file(deep, tmp_path_factory):
    path = tmp_path_factory.mktemp("exits") / "deep.tflite"
    kb.export.convert(deep, "float32", length=[8, 16]).save(path)
    return path


@pytest.mark.long
def test_each_text_ends_in_the_file_where_it_ends_in_keras(deep, file, tiny):
    texts, labels = tiny.rows(32, seed=2)
    expected, model = deep.predictions(texts), kb.open(file)
    actual = model(texts)
    assert [each["layers"] for each in actual] == [each["layers"] for each in expected]
    assert {each["layers"] for each in actual} == {1, 2}
    np.testing.assert_allclose([each["score"] for each in actual], [each["score"] for each in expected], atol=1e-5)
    assert model.score(texts, labels) == pytest.approx(deep.score(texts, labels), abs=1e-6)
    assert kb.open(file, isolated=True)(texts[:4]) == actual[:4]


@pytest.mark.long
def test_weights_are_stored_once(deep, file):
    whole = kb.export.convert(deep, "float32", length=16).content
    content = kb.export.TFLiteFile.read(file)
    assert [signature.name for signature in content.signatures] == ["exit_1_16", "exit_2_16", "exit_1_8", "exit_2_8"]
    weights = sum(variable.numpy().nbytes for variable in deep.variables_by_path().values())
    assert len(whole) < 1.5 * weights
    assert len(content.content) < 1.3 * len(whole)


@pytest.mark.long_cases
@pytest.mark.parametrize("recipe", ["dynamic_wi8_afp32", "static_wi8_ai8"])
def test_quantized_stages_agree_with_keras(deep, tiny, tmp_path, recipe):
    texts = tiny.rows(32, seed=2)[0]
    int8 = kb.compression.quantize(deep, recipe, calibration=texts)
    kb.export.convert(int8).save(tmp_path / "int8.tflite")
    assert int8.exit_threshold == deep.exit_threshold
    for threshold, layers in ((0.0, 1), (None, 2)):
        int8.exit_threshold = threshold
        model = kb.open(_with(tmp_path / "int8.tflite", exit_threshold=threshold))
        actual, expected = model(texts), int8.predict(texts)
        assert {each["layers"] for each in actual} == {layers}
        probabilities = [list(each["probabilities"].values()) for each in actual]
        assert np.mean(np.abs(np.array(probabilities) - expected)) < 0.02


def _with(path, **changes):
    """Write the file beside itself, with other metadata."""
    metadata = replace(kb.export.TFLiteFile.read(path).metadata, **changes)
    other = path.with_name("other.tflite")
    other.write_bytes(append(path, metadata))
    return other


@pytest.mark.long
def test_shared_blocks_have_a_range_for_each_call(tiny, tmp_path):
    import tf_keras as keras

    from kerasbert.encoders import AlbertConfig, AlbertEncoder

    keras.utils.set_random_seed(0)
    config = AlbertConfig(**{**tiny.sizes, "num_hidden_layers": 3, "embedding_size": 16})
    model = kb.TextClassifier(AlbertEncoder(config), tiny.tokenizer(), tiny.labels, sequence_length=16, exits=[2])
    texts = tiny.rows(16, seed=2)[0]
    int8 = kb.compression.quantize(model, "static_wi8_ai8", calibration=texts)
    kb.export.convert(int8).save(tmp_path / "albert.tflite")
    probabilities = [list(each["probabilities"].values()) for each in kb.open(tmp_path / "albert.tflite")(texts)]
    np.testing.assert_allclose(probabilities, int8.predict(texts), atol=0.03)


def test_a_file_without_one_of_its_signatures_is_refused(file, tmp_path):
    content = kb.export.TFLiteFile.read(file)
    model = decode(content.content)
    model.signatureDefs = [each for each in model.signatureDefs if b"exit_1" in bytes(each.signatureKey)]
    (tmp_path / "part.tflite").write_bytes(append(encode(model), content.metadata))
    with pytest.raises(
        KerasBertError, match="expected a signature 'exit_2' in .*, received exit_1_16, exit_1_8; convert"
    ):
        kb.open(tmp_path / "part.tflite")("good film")
    with pytest.raises(KerasBertError, match="expected a signature 'serve' in"):  # a reader that does not know exits
        kb.open(_with(file, exits=None))("good film")


def test_validation_judges_what_ends_early(deep, file, tiny):
    report = kb.export.validate(file, against=deep, data=tiny.rows(32, seed=2), on=["cpu", "gpu"])
    by_name = {check.name: check for check in report.checks}
    assert by_name["cpu-xnnpack"].status == by_name["pipeline"].status == "passed"
    assert by_name["gpu"].status == "not run"
    assert "a signature for each exit" in by_name["gpu"].reason


@pytest.mark.long
def test_metadata_with_fewer_exits_than_the_file_are_refused(tiny, tmp_path):
    model = tiny.classifier(sizes={"num_hidden_layers": 3}, exits=[1, 2])
    kb.export.convert(model).save(tmp_path / "three.tflite")
    with pytest.raises(KerasBertError, match="expected 2 exits in .*, received more: 'exit_2' is followed by another"):
        kb.open(_with(tmp_path / "three.tflite", exits=(1, 2)))("good film")


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"target": "gpu"}, "expected the target cpu or web"), ({"integer_only": True}, "and a recipe with floats")],
)
def test_targets_without_exits_are_refused(deep, settings, message):
    with pytest.raises(KerasBertError, match=message):
        kb.export.convert(deep, **settings)
