"""JSON Lines with the labels of several heads: what is read, what is noted and what is refused."""

import json

import pytest

import kerasbert as kb
from kerasbert.data.file_options import FileOptions
from kerasbert.data.joint import read_joint
from kerasbert.errors import KerasBertError
from kerasbert.processors.joint import Joint

ROWS = [
    {"id": "1", "text": "a b", "mood": "good", "tags": ["O", "B-x"]},
    {"id": "2", "text": "c", "mood": "bad", "tags": ["O"], "score": 0.5},
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_keys_that_are_not_read_are_noted_and_numbers_of_rows_are_no_labels(file, capsys):
    data = read_joint(file, FileOptions())
    assert data.y == [{"mood": row["mood"], "tags": row["tags"]} for row in ROWS]
    assert "left out 'id', 'score' (read with `label=`)" in capsys.readouterr().err
    with (
        kb.strict(),
        pytest.raises(KerasBertError, match="expected keys of text and mood, tags, received 'id', 'score'"),
    ):
        read_joint(file, FileOptions())
    assert read_joint(file, FileOptions(label_column="id")).y == [{"id": "1"}, {"id": "2"}]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("options", [{"pair_column": "b"}, {"delimiter": "tab"}, {"label_separator": ";"}])
def test_options_that_it_does_not_read_are_refused(file, options):
    with pytest.raises(KerasBertError, match="expected keys of a text and its labels only, received .*; leave out"):
        read_joint(file, FileOptions(**options))


def test_unknown_settings_of_a_head_are_refused():
    head = {"task": "classification", "labels": ["a", "b"], "problem": "multi_label"}
    with pytest.raises(KerasBertError, match="expected the head 'mood' with head, .*, received 'problem' too"):
        Joint(heads={"mood": head})
