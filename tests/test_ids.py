import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids

MESSAGE = r"from 0 to 39 .*received {wrong} at \(0, 2\)"


def inputs_with_id(tiny, token_id: int):
    ids = np.zeros((1, tiny.length), np.int32)
    ids[0, 2] = token_id
    mask = np.zeros_like(ids)
    mask[:, :4] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def test_valid_ids_pass():
    check_ids([[0, 39]], 40, "model")
    check_ids(np.zeros((0, 3), np.int32), 40, "model")


@pytest.mark.parametrize("wrong", [40, -1])
def test_keras_models_reject_ids_outside_the_vocabulary(tiny, wrong):
    model, inputs = tiny.narrow(), inputs_with_id(tiny, wrong)
    assert model.config.vocab_size == 40
    for feed in (model.predict, model.encoder, model.serve_numpy):
        with pytest.raises(KerasBertError, match=MESSAGE.format(wrong=wrong)):
            feed(inputs)


def test_tflite_models_reject_ids_outside_the_vocabulary(tiny, tmp_path):
    from kerasbert.export.runtime.interpreters import open_model

    path = kb.export.convert(tiny.narrow(), recipe="float32").save(tmp_path / "model.tflite")
    model = open_model(path)
    assert model.vocab_size == 40
    model.run(inputs_with_id(tiny, 39))
    with pytest.raises(KerasBertError, match=MESSAGE.format(wrong=40)):
        model.run(inputs_with_id(tiny, 40))
