import json

import pytest

import kerasbert as kb
from kerasbert.files.model_folder import OWN_FILE, read_own_config


def write(folder, **changes):
    (folder / OWN_FILE).write_text(json.dumps({"format": 1, "task": "TextClassifier", "settings": {}, **changes}))


def test_a_known_file_has_no_note(tmp_path, capsys):
    write(tmp_path, encoder={}, quantization={}, training={})
    assert read_own_config(tmp_path)["task"] == "TextClassifier" and capsys.readouterr().err == ""


def test_an_unknown_key_is_noted_and_an_error_under_strict(tmp_path, capsys):
    write(tmp_path, calibrated=True)
    read_own_config(tmp_path)
    assert f"{OWN_FILE}: ignored 1 unknown key (calibrated)" in capsys.readouterr().err
    with kb.strict(), pytest.raises(kb.KerasBertError, match="received 1 unknown key"):
        read_own_config(tmp_path)


def test_a_newer_format_is_refused(tmp_path):
    write(tmp_path, format=2)
    with pytest.raises(
        kb.KerasBertError, match="expected format 1, .*received 2; load it with the version of kerasbert"
    ):
        read_own_config(tmp_path)
