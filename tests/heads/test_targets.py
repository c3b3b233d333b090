"""Files for other targets than `cpu` hold a head of the user."""

import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.rules.gpu import forecast
from kerasbert.export.tflite.model_file import ModelFile

pytestmark = pytest.mark.one_layer


@kb.register_head("test-target-mlp")
class MeanMLP(keras.layers.Layer):
    def __init__(self, outputs):
        super().__init__()
        self.pool = keras.layers.GlobalAveragePooling1D()
        self.hidden, self.dense = keras.layers.Dense(8, activation="relu"), keras.layers.Dense(outputs)

    def call(self, encoded, mask):
        return self.dense(self.hidden(self.pool(encoded.sequence, mask=mask)))


@pytest.fixture(scope="module")
def task(tiny):
    return tiny.classifier(head="test-target-mlp")


@pytest.mark.parametrize("target", ["gpu", "web"])
@pytest.mark.long_cases
def test_a_file_for_the_target_predicts_as_the_task(task, tiny, tmp_path, target):
    texts = tiny.rows(8)[0]
    kb.export.convert(task, target=target).save(tmp_path / "own.tflite")
    for ours, theirs in zip(task.predictions(texts), kb.open(tmp_path / "own.tflite")(texts), strict=True):
        assert theirs["probabilities"] == pytest.approx(ours["probabilities"], abs=0.01)
    if target == "gpu":
        # The head reads a mask of booleans, whose operator was never tried on the accelerator.
        verdicts = forecast(ModelFile.read(tmp_path / "own.tflite"))
        assert [verdict.operator for verdict in verdicts if verdict.unsupported_reason] == ["GREATER"]


def test_an_integer_only_file_is_refused(task, tiny):
    with pytest.raises(KerasBertError, match="with the head 'test-target-mlp', which stays in float"):
        kb.export.convert(task, target="edge-tpu", calibration=tiny.rows(8)[0])
