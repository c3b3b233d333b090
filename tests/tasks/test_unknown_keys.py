"""Every settings file of a model folder: a key that is not known is noted, and is an error under `strict`."""

import json
import shutil
from pathlib import Path

import pytest

import kerasbert as kb

pytestmark = pytest.mark.one_layer

ADDED = {"special_tokens_map.json": {"unk_token": "[UNK]"}, "config_sentence_transformers.json": {"prompts": {}}}
FILES = (
    "config.json", "kerasbert.json", "tokenizer_config.json", "special_tokens_map.json", "modules.json", "1_Pooling/config.json",
    "2_Dense/config.json", "sentence_bert_config.json", "config_sentence_transformers.json",
)  # fmt: skip


@pytest.fixture(scope="module")
def original(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("original") / "model"
    tiny.sentence_encoder(normalize=True, dimensions=8).save_pretrained(folder)
    for name, content in ADDED.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def test_the_list_has_every_settings_file(original):
    assert {str(path.relative_to(original)) for path in original.rglob("*.json")} == set(FILES)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.long_cases
def test_an_unknown_key_is_noted_and_an_error_under_strict(original, tmp_path, capsys, name):
    folder = Path(shutil.copytree(original, tmp_path / "model"))
    kb.SentenceEncoder.from_pretrained(folder)
    assert "unknown key" not in capsys.readouterr().err
    content = json.loads((folder / name).read_text())
    (content[0] if isinstance(content, list) else content)["of_tomorrow"] = 1
    (folder / name).write_text(json.dumps(content))
    kb.SentenceEncoder.from_pretrained(folder)
    notes = " ".join(capsys.readouterr().err.split())
    assert "unknown key (of_tomorrow)" in notes and name in notes
    with kb.strict(), pytest.raises(kb.KerasBertError, match="unknown key .of_tomorrow."):
        kb.SentenceEncoder.from_pretrained(folder)
