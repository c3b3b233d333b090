import numpy as np
import pytest

from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.runtime.padding import better_lengths, length_note, padding_note


@pytest.fixture
def long_card(card):
    from dataclasses import replace

    return lambda **changes: replace(card, **{"sequence_length": 256, **changes})


SHORT = np.array([9, 12, 14, 20, 25, 30, 31, 28, 60, 250] * 10)


def test_a_note_suggests_lengths_with_less_padding(long_card):
    assert better_lengths(SHORT, 256) == [16, 32, 64, 256]
    line = padding_note(long_card(), SHORT)
    # 3 at 16, 5 at 32, 1 at 64 and 1 at 256 against 10 at 256
    assert "at 256 tokens, 4.8 times" in line and "median 26" in line and "--length 16,32,64,256" in line


def test_there_is_no_note_without_gain(long_card):
    assert padding_note(long_card(), np.array([250, 130, 90, 255] * 20)) == ""
    assert padding_note(long_card(), SHORT[:20]) == ""
    others = ({"sequence_length": None}, {"lengths": (32, 256)}, {"target": "gpu"}, {"inputs": "text"})
    assert [padding_note(long_card(**other), SHORT) for other in others] == [""] * 4


def test_converting_to_one_long_length_notes_others(long_card):
    assert "at 256 tokens" in length_note(long_card()) and "--length 32,64,128,256 " in length_note(long_card())
    assert "--length 32,64,100 " in length_note(long_card(sequence_length=100))
    others = (
        {"sequence_length": None},
        {"sequence_length": 32},
        {"lengths": (32, 256)},
        {"target": "gpu"},
        {"inputs": "text"},
    )
    assert [length_note(long_card(**other)) for other in others] == [""] * 5


def test_predictions_note_padding_once(float_file, card, tmp_path, capsys, monkeypatch):
    from dataclasses import replace

    from kerasbert.export.runtime import padding
    from kerasbert.export.tflite import metadata

    monkeypatch.setattr(padding, "_LENGTHS", (4,))
    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *card.vocabulary[5:])
    path = tmp_path / "file.tflite"
    path.write_bytes(metadata.append(float_file, replace(card, vocabulary=words)))
    predictor = open_pipeline(path)
    for _ in range(2):
        predictor.predictions(["word1"] * 40)
    assert capsys.readouterr().err.count("times what these need") == 1
