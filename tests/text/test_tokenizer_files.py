"""Reading the tokenizer files of a Hugging Face folder."""

import json

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import WordPiece

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = "\n".join([*SPECIAL, "a"]) + "\n"


def folder(tmp_path, vocabulary=VOCABULARY, **files):
    content = vocabulary if isinstance(vocabulary, bytes) else vocabulary.encode()
    (tmp_path / "vocab.txt").write_bytes(content)
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(value if isinstance(value, str) else json.dumps(value))
    return tmp_path


def test_bom_and_windows_line_ends(tmp_path):
    content = "\ufeff" + "\r\n".join([*SPECIAL, "a", "\u2028", "b"]) + "\r\n"
    tokenizer = WordPiece.from_folder(folder(tmp_path, content))
    assert list(tokenizer.vocabulary) == [*SPECIAL, "a", "\u2028", "b"]


def test_empty_line_keeps_its_id(tmp_path, capsys):
    content = "\n".join([*SPECIAL, "", "a"]) + "\n\n\r\n\n"
    for _ in range(2):
        tokenizer = WordPiece.from_folder(folder(tmp_path, content))
    assert list(tokenizer.vocabulary) == [*SPECIAL, "", "a"]
    assert tokenizer.encode(["a a"], max_length=9).input_ids == [[2, 6, 6, 3]]
    told = capsys.readouterr().err
    assert told.count("note: line 6") == 1 and "id 5" in told
    tokenizer.save(tmp_path / "again")
    assert WordPiece.from_folder(tmp_path / "again").vocabulary == tokenizer.vocabulary


def test_added_tokens(tmp_path):
    decoder = {
        "4": {"content": "[MASK]", "lstrip": True},
        "6": {"content": "<url>", "single_word": True},
        "7": {"content": "B-C", "normalized": True},
    }
    found = folder(tmp_path, tokenizer_config={"added_tokens_decoder": decoder}, added_tokens={"<url>": 6})
    tokenizer = WordPiece.from_folder(found)
    assert list(tokenizer.vocabulary) == [*SPECIAL, "a", "<url>", "B-C"]
    encoded = tokenizer.encode(["a<url> <url> a [MASK]b-c"], max_length=20)
    assert encoded.input_ids == [[2, 5, 1, 1, 1, 6, 5, 4, 7, 3]]
    assert encoded.offsets[0][7] == (14, 21)  # with the space before it
    tokenizer.save(tmp_path / "again")
    again = WordPiece.from_folder(tmp_path / "again")
    assert again.get_config() == tokenizer.get_config() == WordPiece.from_config(tokenizer.get_config()).get_config()


def test_additional_special_tokens(tmp_path):
    files = {"special_tokens_map": {"additional_special_tokens": ["<new>", {"content": "a", "lstrip": True}]}}
    tokenizer = WordPiece.from_folder(folder(tmp_path, added_tokens={"<url>": 6}, **files))
    assert list(tokenizer.vocabulary) == [*SPECIAL, "a", "<url>", "<new>"]
    assert tokenizer.encode(["x<new>b  ab"], max_length=9).input_ids == [[2, 1, 7, 1, 5, 1, 3]]


@pytest.mark.parametrize("further", [5, [None], [{"lstrip": True}]])
def test_damaged_added_tokens_raise(tmp_path, further):
    with pytest.raises(KerasBertError, match="additional_special_tokens as a list|a special token"):
        WordPiece.from_folder(folder(tmp_path, tokenizer_config={"additional_special_tokens": further}))


@pytest.mark.parametrize("added", [{"x": 7}, {"x": 3}])
def test_added_token_with_a_wrong_id_raises(tmp_path, added):
    with pytest.raises(KerasBertError, match="added tokens right behind a vocabulary of 6, or in it, received 'x'"):
        WordPiece.from_folder(folder(tmp_path, added_tokens=added))


def test_default_settings_are_those_of_uncased_bert(tmp_path):
    tokenizer = WordPiece.from_folder(folder(tmp_path))
    assert (tokenizer.lowercase, tokenizer.strip_accents, tokenizer.tokenize_chinese_chars) == (True, None, True)
    assert tokenizer.model_max_length is None


def test_settings_are_read(tmp_path):
    config = {
        "do_lower_case": False,
        "strip_accents": True,
        "tokenize_chinese_chars": False,
        "model_max_length": 256,
        "unk_token": {"content": "a", "lstrip": False, "__type": "AddedToken"},
        "mask_token": "[SEP]",
        "name_or_path": "ignored",
    }
    tokenizer = WordPiece.from_folder(
        folder(tmp_path, tokenizer_config=config, special_tokens_map={"mask_token": "[CLS]", "pad_token": "[UNK]"})
    )
    assert (tokenizer.lowercase, tokenizer.strip_accents, tokenizer.tokenize_chinese_chars) == (False, True, False)
    assert tokenizer.model_max_length == 256
    assert (tokenizer.unk_token, tokenizer.mask_token, tokenizer.pad_token) == ("a", "[SEP]", "[UNK]")


@pytest.mark.parametrize("longest", ["1e30", "1000000000000000019884624838656"])
def test_unlimited_length(tmp_path, longest):
    config = f'{{"model_max_length": {longest}, "strip_accents": null}}'
    assert WordPiece.from_folder(folder(tmp_path, tokenizer_config=config)).model_max_length is None


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ("\n".join([*SPECIAL, "a", "b", "a"]), "'a' on lines 6 and 8"),
        ("\n".join([*SPECIAL, "", "a", "", "b"]), "'' on lines 6 and 8"),
        ("\n".join(SPECIAL[1:]), r"without '\[PAD\]'"),
        ("", "empty file"),
        (b"[PAD]\ncaf\xe9\n", "byte 0xe9 at offset 9"),
    ],
)
def test_invalid_vocabularies_raise(tmp_path, vocabulary, message):
    with pytest.raises(KerasBertError, match=message) as error:
        WordPiece.from_folder(folder(tmp_path, vocabulary))
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "expected a JSON object"),
        ("[]", "received a list"),
        ('{"do_lower_case": "no"}', "do_lower_case .* received 'no'"),
        ('{"unk_token": 3}', "unk_token .* received 3"),
        ('{"model_max_length": -1}', "model_max_length .* received -1"),
        ('{"model_max_length": "long"}', "model_max_length .* received 'long'"),
        ('{"model_max_length": NaN}', "model_max_length .* received nan"),
    ],
)
def test_invalid_settings_raise(tmp_path, config, message):
    with pytest.raises(KerasBertError, match=message):
        WordPiece.from_folder(folder(tmp_path, tokenizer_config=config))


def test_a_missing_vocabulary_raises(tmp_path):
    with pytest.raises(KerasBertError, match=r"vocab.txt: expected a tokenizer file, received no such file"):
        WordPiece.from_folder(tmp_path)


def test_added_tokens_json_is_found_after_normalization(tmp_path):
    """As in the fast tokenizers of transformers 4.57.6. Special tokens are found in the text as it is."""
    special = {"special_tokens_map": {"additional_special_tokens": ["[E]"]}}
    found = folder(tmp_path, added_tokens={"COVID": 6, "[E]": 7, "café": 8}, **special)
    tokenizer = WordPiece.from_folder(found)
    assert tokenizer.encode(["covid COVID [E] Cafe café"], max_length=20).input_ids == [[2, 6, 6, 7, 8, 8, 3]]
    assert tokenizer.encode(["[e]"], max_length=20).input_ids == [[2, 1, 1, 1, 3]]


def test_fields_and_further_roles_of_special_tokens(tmp_path):
    """Counted with the fast tokenizers of transformers 4.57.6."""
    mask = {"content": "[MASK]", "lstrip": True, "normalized": True}
    special = {"mask_token": mask, "bos_token": "[BOS]", "eos_token": "[EOS]"}
    config = {"extra_special_tokens": {"image_token": "<img>"}, "additional_special_tokens": ["<x>"]}
    found = folder(tmp_path, tokenizer_config=config, special_tokens_map=special)
    tokenizer = WordPiece.from_folder(found)
    assert tokenizer.vocabulary[6:] == ("[BOS]", "[EOS]", "<x>", "<img>")
    encoded = tokenizer.encode(["a [mask]x[BOS][EOS]<img><x>"], max_length=20)
    assert encoded.input_ids == [[2, 5, 4, 1, 6, 7, 9, 8, 3]]
    assert encoded.offsets[0][2] == (1, 8)
