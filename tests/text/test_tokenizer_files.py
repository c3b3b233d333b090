"""Reading the tokenizer files of a Hugging Face folder: what is tolerated, what is refused."""

import json

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import WordPiece, tokenizer_from_folder

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


def test_settings_of_an_uncased_bert_by_default(tmp_path):
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
        ("\n".join([*SPECIAL, "", "a"]), "empty line 6"),
        ("\n".join(SPECIAL[1:]), r"without '\[PAD\]'"),
        ("", "empty file"),
        (b"[PAD]\ncaf\xe9\n", "byte 0xe9 at offset 9"),
    ],
)
def test_refused_vocabulary(tmp_path, vocabulary, message):
    with pytest.raises(KerasBertError, match=message) as error:
        WordPiece.from_folder(folder(tmp_path, vocabulary))
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "Expected JSON"),
        ("[]", "Received: list"),
        ('{"do_lower_case": "no"}', "do_lower_case .* Received: 'no'"),
        ('{"unk_token": 3}', "unk_token .* Received: 3"),
        ('{"model_max_length": -1}', "model_max_length .* Received: -1"),
        ('{"model_max_length": "long"}', "model_max_length .* Received: 'long'"),
        ('{"model_max_length": NaN}', "model_max_length .* Received: nan"),
    ],
)
def test_refused_settings(tmp_path, config, message):
    with pytest.raises(KerasBertError, match=message):
        WordPiece.from_folder(folder(tmp_path, tokenizer_config=config))


def test_missing_vocabulary(tmp_path):
    with pytest.raises(KerasBertError, match=r"vocab.txt. Received: no such file"):
        WordPiece.from_folder(tmp_path)


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", None])
def test_tokenizer_class(tmp_path, name):
    assert isinstance(tokenizer_from_folder(folder(tmp_path, tokenizer_config={"tokenizer_class": name})), WordPiece)


def test_other_tokenizer_class(tmp_path):
    with pytest.raises(KerasBertError, match="Received: BertJapaneseTokenizer"):
        tokenizer_from_folder(folder(tmp_path, tokenizer_config={"tokenizer_class": "BertJapaneseTokenizer"}))
