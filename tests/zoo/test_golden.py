"""Every model gives its golden outputs."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.zoo.catalog import ENCODER, models
from kerasbert.zoo.golden import TEXTS, golden_inputs

WITH_GOLDEN = [model for model in models() if model.golden.is_file()]


@pytest.mark.parametrize(
    "model", [model for model in WITH_GOLDEN if model.kind == ENCODER], ids=lambda model: model.name
)
@pytest.mark.long_cases
def test_encoders_give_their_golden_vectors(model):
    golden = json.loads(model.golden.read_text("utf-8"))
    assert golden["inputs"] == list(TEXTS) == golden_inputs(model)
    np.testing.assert_allclose(kb.zoo.load(model.name).predict(golden["inputs"]), golden["outputs"], atol=2e-4)
