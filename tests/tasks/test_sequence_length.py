"""Copies of a task for rows of another length: the position table, the outputs of short rows, folders."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.encoders import RobertaConfig, RobertaEncoder
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer
TABLE = "encoder.embeddings.position.table"
TEXTS = ["the film was good", "a very dull book and so it was"]


@pytest.mark.long
def test_new_positions_are_copies_and_short_rows_are_unchanged(tiny):
    model = tiny.classifier()
    longer = model.with_sequence_length(80)
    assert (longer.sequence_length, longer.config.longest) == (80, 80)
    before, after = (each.variables_by_path()[TABLE].numpy() for each in (model, longer))
    np.testing.assert_array_equal(after, np.concatenate([before, before, before])[:80])
    np.testing.assert_allclose(longer.predict(TEXTS), model.predict(TEXTS), atol=1e-6)
    long_text = " ".join(["good"] * 70)
    assert longer.features([long_text])[1].lengths.tolist() == [72]
    assert np.isfinite(longer.predict([long_text])).all()


def test_rows_before_the_first_position_stay(tiny):
    sizes = {**tiny.sizes, "max_position_embeddings": 18, "pad_token_id": 1}
    model = kb.TextClassifier(RobertaEncoder(RobertaConfig(**sizes)), None, labels=tiny.labels, sequence_length=16)
    longer = model.with_sequence_length(40)
    before, after = (each.variables_by_path()[TABLE].numpy() for each in (model, longer))
    assert longer.config.max_position_embeddings == 42
    np.testing.assert_array_equal(after, np.concatenate([before[:2], before[2:], before[2:], before[2:]])[:42])


@pytest.mark.long
def test_a_shorter_length_keeps_the_table_and_ranges(tiny, static_model):
    shorter = static_model.with_sequence_length(12)
    assert (shorter.sequence_length, shorter.config) == (12, static_model.config)
    np.testing.assert_allclose(shorter.predict(TEXTS), static_model.predict(TEXTS), atol=1e-6)


def test_a_folder_and_its_tokenizer_have_the_new_length(tiny, tmp_path):
    model = tiny.classifier()
    limited = type(model)(
        model.encoder, kb.text.WordPiece(tiny.vocabulary, model_max_length=32), labels=tiny.labels, sequence_length=16
    )
    longer = limited.with_sequence_length(64)
    longer.save_pretrained(tmp_path / "longer")
    loaded = kb.load_task(tmp_path / "longer")
    assert (loaded.sequence_length, loaded.config.longest, loaded.tokenizer.model_max_length) == (64, 64, 64)
    np.testing.assert_allclose(loaded.predict(TEXTS), limited.predict(TEXTS), atol=1e-6)


def test_a_quantized_table_does_not_grow(static_model):
    with pytest.raises(KerasBertError, match="in float for more than 32 positions.*lengthen it first"):
        static_model.with_sequence_length(64)


@pytest.mark.parametrize("length", [2, 0, -1, 16.5, "64", True, None])
@pytest.mark.long_cases
def test_other_lengths_are_refused(tiny, length):
    with pytest.raises(KerasBertError, match="length"):
        tiny.narrow().with_sequence_length(length)
