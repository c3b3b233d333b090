"""Words by a Chinese segmenter, by spaces or by a function: tokens of a word share a number, and no other tokens do."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors.word_pieces import token_words
from kerasbert.text import ByteLevelBPE, JapaneseTokenizer, WordPiece

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENIZER = WordPiece([*SPECIAL, *"我在北京大学习的。", "be", "##rt", "ab"])
TEXT = "我在北京大学学习 BERT。"
WORDS = ["我", "在", "北京大学", "学习", " ", "BERT", "。"]
NUMBERS = [0, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5]


def test_tokens_of_a_segmenters_word_share_a_number():
    ids, words = TOKENIZER.token_words([TEXT, ""], lambda text: WORDS if text else [])
    assert [row.tolist() for row in words] == [NUMBERS, []] and words[0].dtype == ids[0].dtype == np.int32
    assert ids[0].tolist() == TOKENIZER.token_ids([TEXT])[0].tolist()
    assert ids[0].tolist() == TOKENIZER.encode([TEXT], max_length=99).input_ids[0][1:-1]
    for number, word in enumerate(word for word in WORDS if word.strip()):
        tokens = [TOKENIZER.vocabulary[i].removeprefix("##") for i in ids[0][words[0] == number]]
        assert "".join(tokens) == word.lower()


def test_words_of_the_tokenizer_are_never_divided_and_others_stand_alone():
    divided = TOKENIZER.token_words(["bert在京的习"], lambda text: ["b", "ert在京", "习"])
    assert divided[1][0].tolist() == [0, 0, 0, 0, 1, 2]
    assert TOKENIZER.token_words(["在京的习。"], lambda text: ["在京"])[1][0].tolist() == [0, 0, 1, 2, 3]
    assert TOKENIZER.token_words(["[MASK]京"], lambda text: ["[MASK]京"])[1][0].tolist() == [0, 0]


def test_spaces_in_the_text_may_show_words():
    text = "我 在 北京大学 学习 BERT ."
    assert TOKENIZER.token_words([text], "spaces")[1][0].tolist() == NUMBERS
    assert TOKENIZER.token_ids([text])[0].tolist()[:-1] == TOKENIZER.token_ids([TEXT])[0].tolist()[:-1]


def test_long_texts_keep_their_words(monkeypatch):
    texts = [TEXT * 9, "ab bert " * 9]
    expected = TOKENIZER.token_words(texts, lambda text: [WORDS, ["ab", "bert"]]["ab" in text] * 9)
    monkeypatch.setattr("kerasbert.text.long_texts.PIECE", 7)
    again = TOKENIZER.token_words(texts, lambda text: [WORDS, ["ab", "bert"]]["ab" in text] * 9)
    for before, after in zip([*expected[0], *expected[1]], [*again[0], *again[1]], strict=True):
        assert before.tolist() == after.tolist()


def test_a_token_that_begins_with_a_space_belongs_to_the_word_behind_it():
    tokenizer = ByteLevelBPE(["<s>", "<pad>", "</s>", "<unk>", "<mask>", *"abĠ", "Ġa"], ["Ġ a"], trim_offsets=False)
    assert tokenizer.token_words(["ab ab"], "spaces")[1][0].tolist() == [0, 0, 1, 1]


def test_without_a_segmenter_words_are_those_of_the_tokenizer_or_the_vocabulary():
    expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9]
    for words in (TOKENIZER.token_words([TEXT])[1], token_words([TEXT], TOKENIZER)[1]):
        assert [row.tolist() for row in words] == [expected] and words[0].dtype == np.int32
    assert [row.tolist() for row in token_words(["", "ab"], TOKENIZER)[1]] == [[], [0]]
    japanese = JapaneseTokenizer([*SPECIAL, *"東京に住んでい"], subwords="character")
    ids, words = token_words(["東京に住んで", "[MASK]に"], japanese)
    assert [row.tolist() for row in words] == [[0, 0, 1, 2, 2, 3], [0, 1]]
    assert [row.tolist() for row in ids] == [
        row[1:-1] for row in japanese.encode(["東京に住んで", "[MASK]に"], max_length=9).input_ids
    ]


def test_jieba_is_the_package_rjieba(monkeypatch):
    monkeypatch.setitem(sys.modules, "rjieba", SimpleNamespace(cut=lambda text: WORDS))
    assert TOKENIZER.token_words([TEXT], "jieba")[1][0].tolist() == NUMBERS
    monkeypatch.setitem(sys.modules, "rjieba", None)
    with pytest.raises(
        KerasBertError, match=r"package rjieba for Chinese words, .* pip install 'kerasbert\[chinese\]'"
    ):
        TOKENIZER.token_words([TEXT], "jieba")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ltp", "one of jieba, spaces, received 'ltp'"),
        (3, "one of jieba, spaces, received 3"),
        (lambda text: text, "words of a text as a list, received '我在"),
        (lambda text: None, "words of a text as a list, received None"),
        (lambda text: ["我", "京都"], "received '京都', which is not in the text behind character 1"),
        (lambda text: ["在", "我"], "received '我', which is not in the text behind character 2"),
        (lambda text: [b"x"], "received bytes, which is not in the text"),
    ],
)
def test_what_is_no_list_of_words_is_an_error_of_one_line(words, message):
    with pytest.raises(KerasBertError, match=message) as error:
        TOKENIZER.token_words([TEXT], words)
    assert "\n" not in str(error.value)
