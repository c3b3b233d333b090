import json
import shutil
from pathlib import Path

import pytest

import kerasbert as kb
from kerasbert.checkpoints.config_keys import check_keys
from kerasbert.errors import KerasBertError

GOLDEN = Path(__file__).parents[1] / "golden"
KNOWN = ("vocab_size", "hidden_size")


def test_harmless_keys_get_no_note(capsys):
    for folder in GOLDEN.glob("*/config.json"):
        config = json.loads(folder.read_text())
        check_keys(config, config.keys() - {"architectures", "dtype"}, "x")
    assert capsys.readouterr().err == ""


def test_unknown_keys_are_named(capsys):
    config = {"vocab_size": 3, "rotary_base": 1, "b": 2, "c": 3, "d": 4}
    check_keys(config, KNOWN, "config.json")
    assert capsys.readouterr().err == "note: config.json: ignored 4 unknown keys (b, c, d and 1 more)\n"


@pytest.mark.parametrize(("key", "value"), [("position_embedding_type", "relative_key"), ("is_decoder", True)])
def test_unsupported_values_are_errors(key, value, capsys):
    with pytest.raises(KerasBertError, match=f"config.json: expected {key}.*received {value!r}"):
        check_keys({key: value}, KNOWN, "config.json")
    check_keys({key: {"is_decoder": False}.get(key, "absolute")}, KNOWN, "config.json")
    assert capsys.readouterr().err == ""


def test_note_about_unknown_keys_is_printed(tmp_path, capsys):
    folder = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "bert-gelu-new", folder)
    kb.load_encoder(folder)
    assert capsys.readouterr().err == ""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "rotary_base": 10000}))
    kb.load_encoder(folder)
    assert "ignored 1 unknown key (rotary_base)" in capsys.readouterr().err
