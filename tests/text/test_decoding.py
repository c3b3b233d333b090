"""Ids back to tokens and texts, against the decoders of Hugging Face's tokenizers and of the sentencepiece library."""

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor
from tokenizers.implementations import BertWordPieceTokenizer, ByteLevelBPETokenizer

from kerasbert.errors import KerasBertError
from kerasbert.text import ByteLevelBPE, JapaneseTokenizer, SentencePiece, WordPiece

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LINES = ["the cat sat on the mat", "a cat isn't here, is it?", "hats and mats, cats and bats"] * 4


def ids_of(tokenizer, text):
    return tokenizer.encode([text], max_length=64).input_ids[0]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece([*SPECIAL, "play", "##ing", "is", "it", "not", "n", "t", "'", ",", "?", "!", "(", ")"])


def test_tokens_of_a_text_and_of_ids(tokenizer):
    assert tokenizer.tokens("Playing, is it?") == ["play", "##ing", ",", "is", "it", "?"]
    assert tokenizer.tokens(np.array(ids_of(tokenizer, "playing"))) == ["[CLS]", "play", "##ing", "[SEP]"]
    assert tokenizer.tokens([]) == tokenizer.tokens("") == []


@pytest.mark.parametrize("text", ["Playing, is it?", "is it not ( playing ) !", "isn't it [MASK] zebra", ""])
def test_word_pieces_are_joined_as_hugging_face_does(tokenizer, text):
    engine, ids = BertWordPieceTokenizer(dict(tokenizer._ids)), ids_of(tokenizer, text)
    assert tokenizer.decode(ids) == engine.decode(ids, skip_special_tokens=False)
    assert tokenizer.decode(ids, skip_special_tokens=True) == engine.decode(ids, skip_special_tokens=True)


def test_bytes_are_joined_as_hugging_face_does():
    tokenizer = ByteLevelBPE.train(LINES, vocabulary_size=300)
    engine = ByteLevelBPETokenizer(dict(tokenizer._ids), [tuple(merge.split(" ")) for merge in tokenizer.merges])
    ids = ids_of(tokenizer, "the cat, Zürich 😀")
    assert tokenizer.decode(ids, skip_special_tokens=True) == engine.decode(ids[1:-1]) == "the cat, Zürich 😀"
    assert tokenizer.tokens("the cat") == ["the", "Ġcat"]


def test_sentence_pieces_are_joined_as_the_library_does():
    tokenizer = SentencePiece.train(LINES, vocabulary_size=60)
    library, ids = SentencePieceProcessor(model_proto=tokenizer.model), ids_of(tokenizer, "the cats and a mat")
    assert tokenizer.decode(ids, skip_special_tokens=True) == library.decode(ids[1:-1]) == "the cats and a mat"


def test_japanese_words_have_spaces_between_them():
    tokenizer = JapaneseTokenizer([*SPECIAL, "東京", "##都", "東", "に", "住ん", "で", "い", "ます", "。"])
    ids = ids_of(tokenizer, "東京に住んでいます。")
    assert tokenizer.tokens(ids)[1:-1] == ["東京", "に", "住ん", "で", "い", "ます", "。"]
    assert tokenizer.decode([2, 5, 6, 8, 3]) == "[CLS] 東京都 に [SEP]"


@pytest.mark.parametrize("ids", [[[2, 3]], [2.0], 2, [-1], [18], None])
def test_what_is_no_row_of_ids_is_an_error(tokenizer, ids):
    with pytest.raises(KerasBertError, match="expected (the )?token ids .*received"):
        tokenizer.decode(ids)
