"""Arguments of tokenizers that are names of files, or have no order."""

from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import ByteLevelBPE, JapaneseTokenizer, SentencePiece, WordPiece

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
IDS = {token: 4 - number for number, token in enumerate(SPECIAL)}


@pytest.mark.parametrize("kind", [WordPiece, JapaneseTokenizer])
@pytest.mark.parametrize(
    ("value", "received"),
    [("vocab.txt", "'vocab.txt'"), (Path("vocab.txt"), "Path"), (IDS, "dict"), (set(SPECIAL), "set"), (7, "int")],
)
def test_a_vocabulary_is_a_list(kind, value, received):
    with pytest.raises(KerasBertError, match=f"expected the vocabulary as a list .*{received}.*tokenizer_from_folder"):
        kind(value)


def test_merges_are_a_list():
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a"]
    with pytest.raises(KerasBertError, match=r"expected the merges as a list .* received 'merges\.txt'; read a folder"):
        ByteLevelBPE(vocabulary, "merges.txt")


@pytest.mark.parametrize("value", ["spiece.model", Path("spiece.model"), ["▁a"]])
def test_a_sentencepiece_model_is_bytes(value):
    with pytest.raises(KerasBertError, match=r"expected the content of a spiece\.model as bytes, received"):
        SentencePiece(value)


def test_a_file_in_place_of_a_folder(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(SPECIAL), "utf-8")
    with pytest.raises(KerasBertError, match=r"vocab\.txt"):
        WordPiece.from_folder(path)
