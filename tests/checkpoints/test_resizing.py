from pathlib import Path

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.checkpoints.resizing import resize_tables
from kerasbert.errors import KerasBertError

GOLDEN = Path(__file__).parents[1] / "golden"
IDS = np.array([[2, 7, 30, 3]], np.int32)


@pytest.mark.parametrize("name", ["bert-pretraining", "mobilebert-pretraining", "albert-two-groups"])
@pytest.mark.long_cases
def test_fewer_positions_keep_outputs_of_short_texts(name):
    whole, cut = kb.load_encoder(GOLDEN / name), kb.load_encoder(GOLDEN / name, max_position_embeddings=8)
    assert cut.config.max_position_embeddings == cut.config.longest == 8
    np.testing.assert_array_equal(cut(IDS).sequence, whole(IDS).sequence)


def test_token_embeddings_shrink_and_grow_at_the_end():
    whole = kb.load_encoder(GOLDEN / "bert-pretraining")
    for rows in (100, 300):
        other = kb.load_encoder(GOLDEN / "bert-pretraining", vocab_size=rows)
        table, common = other.embeddings.word.table.numpy(), min(rows, 211)
        assert table.shape == (rows, 32)
        np.testing.assert_array_equal(table[:common], whole.embeddings.word.table.numpy()[:common])
        np.testing.assert_array_equal(other(IDS).sequence, whole(IDS).sequence)
    assert 0 < np.abs(table[211:]).max() <= 0.04 and len(np.unique(table[211:])) > 2000


def test_masked_lm_head_is_resized_with_the_vocabulary():
    from kerasbert.checkpoints.readers import read_tensors

    config = kb.load_encoder(GOLDEN / "mobilebert-pretraining").config
    tensors = resize_tables(config, read_tensors(GOLDEN / "mobilebert-pretraining"), vocab_size=250)
    assert tensors["mobilebert.embeddings.word_embeddings.weight"].shape == (250, 16)
    assert tensors["cls.predictions.dense.weight"].shape == (16, 250)
    assert tensors["cls.predictions.bias"].shape == (250,) and not tensors["cls.predictions.bias"][211:].any()


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"max_position_embeddings": 41}, "from 1 to 40, received 41"),
        ({"max_position_embeddings": 0}, "from 1 to 40, received 0"),
        ({"vocab_size": 0}, "at least 1, received 0"),
    ],
)
def test_invalid_sizes(sizes, message):
    with pytest.raises(KerasBertError, match=message):
        kb.load_encoder(GOLDEN / "bert-pretraining", **sizes)


def test_tasks_can_be_resized(tmp_path):
    task = kb.TextClassifier.from_pretrained(
        GOLDEN / "bert-pretraining", labels=["a", "b"], max_position_embeddings=12, vocab_size=300
    )
    assert task.sequence_length == 12 and task.config.vocab_size == 300
    task.save_pretrained(tmp_path / "saved")
    again = kb.load_task(tmp_path / "saved")
    assert (again.config.vocab_size, again.config.max_position_embeddings) == (300, 12)
