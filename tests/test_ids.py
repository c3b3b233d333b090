import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids

SAID = r"from 0 to 39 .*received {wrong} at \(0, 2\)"


def packed(tiny, wrong: int, rows: int = 1):
    ids = np.zeros((rows, tiny.length), np.int32)
    ids[0, 2] = wrong
    mask = np.zeros_like(ids)
    mask[:, :4] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def test_ids_of_the_vocabulary_pass():
    check_ids([[0, 39]], 40, "model")
    check_ids(np.zeros((0, 3), np.int32), 40, "model")


@pytest.mark.parametrize("wrong", [40, -1])
def test_an_id_without_a_word_is_named_by_keras(tiny, wrong):
    model, inputs = tiny.narrow(), packed(tiny, wrong)
    assert model.config.vocab_size == 40
    for feed in (model.predict, model.encoder, model.serve_numpy):
        with pytest.raises(KerasBertError, match=SAID.format(wrong=wrong)):
            feed(inputs)


def test_an_id_without_a_word_is_named_before_a_file_runs(tiny, tmp_path):
    from kerasbert.export.runtime.interpreters import open_model

    path = kb.export.convert(tiny.narrow(), recipe="float32").save(tmp_path / "model.tflite")
    model = open_model(path)
    assert model.vocab_size == 40
    model.run(packed(tiny, 39))
    with pytest.raises(KerasBertError, match=SAID.format(wrong=40)):
        model.run(packed(tiny, 40))
