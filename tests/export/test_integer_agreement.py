"""Integer-only files of a MobileBERT without norms give the answers of the Keras model: nothing takes back what a step rounds otherwise."""

import numpy as np
import pytest

from kerasbert.compression import quantize
from kerasbert.export import convert, open_model
from kerasbert.export.backends.edge_tpu import forecast
from kerasbert.export.tflite.model_file import ModelFile


@pytest.fixture(scope="module")
def model(tiny, learned_mobilebert):
    return quantize(learned_mobilebert, "static_wi8_ai8", calibration=tiny.rows(128, seed=1)[0], integer_only=True)


@pytest.fixture(scope="module")
def packed(tiny, model):
    return model.pack(tiny.rows(100, seed=7)[0])


def probabilities(file, packed, kernels="xnnpack"):
    opened = open_model(file, kernels=kernels)
    rows = ({name: values[i : i + 1] for name, values in packed.items()} for i in range(len(packed["input_ids"])))
    return np.concatenate([opened.run(row)["probabilities"] for row in rows])


@pytest.mark.long
def test_xnnpack_gives_the_probabilities_of_the_keras_model(model, packed):
    """One step that rounds otherwise moves later ones, and most rows; so nearly all are equal, or few are."""
    ours, theirs = model.serve_numpy(packed)["probabilities"], probabilities(convert(model).content, packed)
    assert np.mean(np.abs(ours - theirs).max(-1) < 1e-6) > 0.95


@pytest.mark.long
def test_reference_kernels_and_the_edge_tpu_pair_choose_the_same_class(model, packed, tmp_path):
    classes = model.serve_numpy(packed)["probabilities"].argmax(-1)
    pair = convert(model, target="edge-tpu")
    path = pair.save(tmp_path / "pair.tflite")
    assert all(verdict.unsupported_reason is None for verdict in forecast(ModelFile.read(pair.content)))
    for file, kernels in ((convert(model).content, "reference"), (path, "xnnpack"), (path, "reference")):
        assert np.mean(probabilities(file, packed, kernels).argmax(-1) == classes) >= 0.98
